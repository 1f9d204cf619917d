export async function compareEvac(){return []}
