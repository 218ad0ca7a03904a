import type { Handlers } from '../../../contract/route.ts'
import type { recordingRoutes } from '../../../contract/routes/recordings.ts'
import { listRecordingRules, readOwnRecording, setRecordingRule } from '../../usage/recordings/recording-rules.ts'
import { type Context, requireCaller } from './context.ts'

export const recordingHandlers: Handlers<typeof recordingRoutes, Context> = {
  'GET /api/recording/rules': ({ app }) => listRecordingRules(app),

  async 'PUT /api/recording/rules'(context, { body }) {
    await setRecordingRule(context.app, { caller: requireCaller(context), rule: body })
    return listRecordingRules(context.app)
  },

  'GET /api/recording/self': (context) => readOwnRecording(context.app, requireCaller(context).id),

  async 'PUT /api/token/:id/recording'(context, { params, body }) {
    const caller = requireCaller(context)
    const rule = { kind: 'token', target: params.id, per_mille: 1000, until: body.until } as const
    await setRecordingRule(context.app, { caller, rule, ofUser: caller.id })
    return readOwnRecording(context.app, caller.id)
  },

  'GET /api/recording/self/:request_id': (context, { params }) =>
    context.app.recordings.readOwn(params.request_id, requireCaller(context).id),

  'GET /api/recording/call/:request_id': (context, { params }) =>
    context.app.recordings.read(params.request_id, requireCaller(context)),
}
