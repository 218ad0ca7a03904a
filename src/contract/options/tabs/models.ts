import { batches } from '../batches.ts'
import { claude } from '../claude.ts'
import { files } from '../files.ts'
import { gemini } from '../gemini.ts'
import { idempotency } from '../idempotency.ts'
import { responses } from '../responses.ts'
import { resume } from '../resume.ts'
import { translation } from '../translation.ts'

export const sections = [gemini, claude, responses, translation, idempotency, resume, files, batches] as const
