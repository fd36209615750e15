/**
 * A word of a command line that is shown to be copied: quoted for a POSIX shell when it holds anything that a shell
 * would read as more than text. Paths and targets go through here before they stand in a hint.
 */
export function quoteForShell(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Opens a file to be edited, in a command that is shown to be copied. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: it is the shell's
export const editorCommand = '"${EDITOR:-vi}"';
