import { fail } from '../../base/lib/failure.ts'
import { recordAction } from '../../base/options/audit.ts'
import { type Context, requireCaller } from './context.ts'

/** Starts a job before its time, recorded in the audit log. Throws `job_running`. */
export async function startJob(context: Context, name: string): Promise<null> {
  const { app } = context
  if (!(await app.startJob(name))) fail('job_running')
  await recordAction(app, { caller: requireCaller(context), action: 'job.start', target: `job:${name}` })
  return null
}
