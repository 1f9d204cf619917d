/** Lives with the bricks now, because worlds capture their passes too. */
export { CapturedForward } from "#nn";
