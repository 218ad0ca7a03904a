import { claude } from '../claude.ts'
import { gemini } from '../gemini.ts'
import { idempotency } from '../idempotency.ts'
import { responses } from '../responses.ts'

export const sections = [gemini, claude, responses, idempotency] as const
