/**
 * An error that the reader can fix: a wrong path, a bad setting, a damaged file.
 *
 * It says what was found, what was expected and what to do next. The command line prints it without a
 * stack and exits with code 2; every other error is a bug of ours and keeps its stack.
 *
 * What was found often comes from a file that we do not trust: a message is cut before it fills the screen, and
 * control characters, by which text can take over a terminal, are shown as a replacement character.
 */
export class UserError extends Error {
  override name = "UserError";

  constructor(message: string, options?: ErrorOptions) {
    super(readable(message), options);
  }
}

const longest = 10_000; // characters: a list of all shipped configurations has 1,500
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

function readable(message: string): string {
  const more = message.length - longest;
  const cut = more > 0 ? `${message.slice(0, longest)}… (${more} characters more)` : message;
  return cut.replace(control, "\ufffd");
}
