import { storedText } from '../../lib/stored.ts'

/** The notice that was last read in this browser, under the key that other programs use. */
export const readNotice = storedText('notice')

/** Whether a notice has not been read yet: each text is shown once. */
export function useUnread(notice: string): boolean {
  return readNotice.use() !== notice
}
