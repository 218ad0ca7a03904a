import { z } from 'zod'
import { nameText } from '../name-text.ts'

/** A passkey as its owner sees it. `used_at` is 0 while it was never used. */
export const passkey = z.object({ id: z.int(), name: z.string(), created_at: z.int(), used_at: z.int() })
export type Passkey = z.output<typeof passkey>

export const passkeyName = z.string().transform(nameText).pipe(z.string().min(1).max(50))
