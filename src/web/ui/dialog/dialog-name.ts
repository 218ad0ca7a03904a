/** Names a dialog or drawer from the moment it opens: the library points at its title only once that has been drawn. */
export function dialogName(title: string): { content: { 'aria-label': string } } {
  return { content: { 'aria-label': title } }
}
