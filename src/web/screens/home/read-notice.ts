import { storedText } from '../../lib/stored.ts'

/** The notice that was read last in this browser, under the accustomed name. */
export const readNotice = storedText('notice')

/** Whether a notice has not been read yet: each text is shown once. */
export function useUnread(notice: string): boolean {
  return readNotice.use() !== notice
}
