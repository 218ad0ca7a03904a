import { z } from 'zod'
import type { Label } from './task.ts'

/** A file that a user stores at a vendor, as lists show it. Times in unix seconds. `channel_id` is 0 and `username` '' for its owner. */
export const storedFile = z.object({
  /** Its place in the list. */
  id: z.int(),
  /** The id that callers see. */
  file_id: z.string(),
  user_id: z.int(),
  username: z.string(),
  channel_id: z.int(),
  /** A key of `fileDialects`. */
  dialect: z.string(),
  /** A key of `fileStateLabels`. */
  state: z.string(),
  filename: z.string(),
  purpose: z.string(),
  bytes: z.int(),
  created_at: z.int(),
  /** 0 for a file that its vendor keeps until it is deleted. */
  expires_at: z.int(),
})
export type StoredFile = z.output<typeof storedFile>

/** What the files of a user, or of everybody, take of the quota that each user has. */
export const filesUsage = z.object({ count: z.int(), bytes: z.int(), count_max: z.int(), bytes_max: z.int() })

export const fileDialects: Readonly<Record<string, string>> = { openai: 'OpenAI', anthropic: 'Anthropic', gemini: 'Gemini' }

export const fileStateLabels: Readonly<Record<string, Label>> = {
  kept: { label: { zh: '可用', en: 'Stored' }, color: 'green' },
  arriving: { label: { zh: '上传中', en: 'Uploading' }, color: 'blue' },
  open: { label: { zh: '分段上传中', en: 'Uploading in parts' }, color: 'blue' },
  lost: { label: { zh: '渠道已删除', en: 'Channel deleted' }, color: 'red' },
}
