import { fail } from '../lib/failure.ts'
import { recordAudit } from '../options/audit.ts'
import { type Context, requireCaller } from './context.ts'

/** Starts a job before its time, recorded in the audit log. Throws `job_running`. */
export async function startJob(context: Context, name: string): Promise<null> {
  const { app } = context
  if (!(await app.startJob(name))) fail('job_running')
  const entry = { caller: requireCaller(context), action: 'job.start', target: `job:${name}` }
  await app.db.transaction().execute((within) => recordAudit(app, within, entry))
  return null
}
