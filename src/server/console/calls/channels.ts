import { channelStatus } from '../../../contract/entities/channel-status.ts'
import type { Handlers } from '../../../contract/route.ts'
import type { channelRoutes } from '../../../contract/routes/channels.ts'
import { zeroBased } from '../../base/db/page.ts'
import { addKeys, listKeys, removeKey, setKeyStatus } from '../../gateway/channels/edit/channel-keys.ts'
import { builtInModelsByType, listBuiltInModels, listChannelTypes } from '../../gateway/channels/edit/channel-types.ts'
import {
  addChannels,
  copyChannel,
  deleteChannels,
  deleteDisabledChannels,
  editChannel,
  repairChannels,
  setChannelStatus,
} from '../../gateway/channels/edit/channels.ts'
import { exportChannels } from '../../gateway/channels/edit/export-channels.ts'
import { anyChannel, findChannel, findChannels } from '../../gateway/channels/edit/find-channels.ts'
import { applyModelChanges, dismissModelChanges, listModelChanges } from '../../gateway/channels/edit/model-changes.ts'
import { editTag, setTagStatus, tagChannels } from '../../gateway/channels/edit/tags.ts'
import { listModelsOfChannel, listModelsOfForm } from '../../gateway/channels/edit/upstream-models.ts'
import { refreshBalance } from '../../gateway/channels/health/balance.ts'
import { enabledModels } from '../../gateway/channels/index/listed-models.ts'
import { probeChannel } from '../../gateway/relay/models/probe.ts'
import { checkUpstreamModels } from '../../watch/jobs/check-models.ts'
import { refreshBalances } from '../../watch/jobs/refresh-balances.ts'
import { listSweeps } from '../../watch/jobs/sweep.ts'
import { testChannels } from '../../watch/jobs/test-channels.ts'
import { type Context, listed, requireCaller } from './context.ts'
import { refusalOf } from './failures.ts'
import { startJob } from './start-job.ts'

/** Greatest number of channels that a search without paging returns. */
const searchedMax = 1000
const copySuffix = { zh: '_复制', en: '_copy' }

export const channelHandlers: Handlers<typeof channelRoutes, Context> = {
  async 'GET /api/channel/'(context, { query }) {
    const page = zeroBased(query.p, query.page_size)
    const found = await findChannels(context.app, { filter: anyChannel, ...arrangement(query), page })
    return listed(context, found, { isPaged: isPaged(context, query), page: query.p, size: query.page_size })
  },

  async 'GET /api/channel/search'(context, { query }) {
    const paged = isPaged(context, query)
    const size = query.page_size ?? (paged ? 10 : searchedMax)
    const page = paged ? zeroBased(query.p, size) : { offset: 0, limit: searchedMax }
    const found = await findChannels(context.app, { filter: query, ...arrangement(query), page })
    return listed(context, found, { isPaged: paged, page: query.p, size })
  },

  'GET /api/channel/export.csv': (context, { query: { time_zone: timeZone, id_sort: idSort = false, ...filter } }) =>
    exportChannels(context.app, { ...by(context), filter, idSort, timeZone }),

  'GET /api/channel/types': () => listChannelTypes(),
  'GET /api/channel/models': () => listBuiltInModels(),
  'GET /api/channel/models_enabled': ({ app }) => enabledModels(app),
  'GET /api/models': () => builtInModelsByType(),
  'GET /api/channel/:id': ({ app }, { params }) => findChannel(app, params.id),

  'POST /api/channel/': (context, { body }) => applied(context, addChannels(context.app, { ...by(context), input: body })),
  'POST /api/channel/:id/copy': (context, { params }) =>
    applied(context, copyChannel(context.app, { ...by(context), id: params.id, suffix: copySuffix[context.language] })),
  'PUT /api/channel/': (context, { body }) => applied(context, editChannel(context.app, { ...by(context), patch: body })),
  'DELETE /api/channel/disabled': (context) => applied(context, deleteDisabledChannels(context.app, by(context))),
  async 'DELETE /api/channel/:id'(context, { params }) {
    await applied(context, deleteChannels(context.app, { ...by(context), ids: [params.id] }))
    return null
  },
  'POST /api/channel/batch': (context, { body }) =>
    applied(context, deleteChannels(context.app, { ...by(context), ids: body.ids })),
  'POST /api/channel/batch/status': (context, { body }) =>
    applied(context, setChannelStatus(context.app, { ...by(context), ...body })),

  'GET /api/channel/:id/keys': ({ app }, { params }) => listKeys(app, params.id),
  'POST /api/channel/:id/keys': (context, { params, body }) =>
    applied(context, addKeys(context.app, { ...by(context), channelId: params.id, key: body.key })),
  'POST /api/channel/:id/keys/status': (context, { params, body }) =>
    applied(context, setKeyStatus(context.app, { ...by(context), channelId: params.id, ...body })),
  async 'DELETE /api/channel/:id/keys/:key'(context, { params }) {
    await applied(context, removeKey(context.app, { ...by(context), channelId: params.id, keyId: params.key }))
    return null
  },

  'PUT /api/channel/tag': (context, { body }) => applied(context, editTag(context.app, { ...by(context), patch: body })),
  'POST /api/channel/tag/enabled': (context, { body }) =>
    applied(context, setTagStatus(context.app, { ...by(context), ...body, status: channelStatus.enabled })),
  'POST /api/channel/tag/disabled': (context, { body }) =>
    applied(context, setTagStatus(context.app, { ...by(context), ...body, status: channelStatus.disabled })),
  'POST /api/channel/batch/tag': (context, { body }) => applied(context, tagChannels(context.app, { ...by(context), ...body })),
  'POST /api/channel/fix': (context) => applied(context, repairChannels(context.app, by(context))),

  'GET /api/channel/jobs': ({ app }) =>
    listSweeps(
      app,
      [testChannels, refreshBalances, checkUpstreamModels].map(({ name }) => name),
    ),
  'GET /api/channel/test': (context) => startJob(context, testChannels.name),
  'POST /api/channel/test': (context) => startJob(context, testChannels.name),
  'GET /api/channel/update_balance': (context) => startJob(context, refreshBalances.name),
  'POST /api/channel/update_balance': (context) => startJob(context, refreshBalances.name),
  'GET /api/channel/update_balance/:id': (context, { params }) => updateBalance(context, params.id),
  'POST /api/channel/update_balance/:id': (context, { params }) => updateBalance(context, params.id),

  'GET /api/channel/model_changes': ({ app }) => listModelChanges(app),
  'POST /api/channel/model_changes': (context) => startJob(context, checkUpstreamModels.name),
  async 'POST /api/channel/:id/model_changes/apply'(context, { params, body }) {
    await applied(context, applyModelChanges(context.app, { ...by(context), channelId: params.id, ...body }))
    return findChannel(context.app, params.id)
  },
  async 'POST /api/channel/:id/model_changes/dismiss'(context, { params }) {
    await dismissModelChanges(context.app, { ...by(context), channelId: params.id })
    return null
  },

  'GET /api/channel/test/:id': (context, { params, query }) => test(context, params.id, query.model),
  'POST /api/channel/test/:id': (context, { params, query }) => test(context, params.id, query.model),
  'GET /api/channel/fetch_models/:id': ({ app }, { params }) => listModelsOfChannel(app, params),
  'POST /api/channel/fetch_models': ({ app }, { body }) => listModelsOfForm(app, body),
}

async function test(context: Context, channelId: number, model: string) {
  const { seconds, failure } = await applied(context, probeChannel(context.app, { channelId, model }))
  return { data: null, extra: { time: seconds, ...(failure ? refusalOf(failure, context.language) : {}) } }
}

async function updateBalance(context: Context, id: number) {
  return { data: null, extra: { balance: await applied(context, refreshBalance(context.app, id)) } }
}

/** Waits until this node routes by the change, so that it is in force before the reply. */
async function applied<Result>({ app }: Context, change: Promise<Result>): Promise<Result> {
  const result = await change
  await app.channels.refresh()
  return result
}

/** Scripts that do not specify a form get the one configured for the site. */
function isPaged({ app }: Context, { paged }: { paged?: boolean | undefined }): boolean {
  return paged ?? app.options.current.ChannelListShape === 'paged'
}

function by(context: Context) {
  return { caller: requireCaller(context) }
}

interface Arranged {
  readonly id_sort?: boolean | undefined
  readonly tag_mode?: boolean | undefined
  readonly untagged?: boolean | undefined
}

function arrangement({ id_sort = false, tag_mode = false, untagged = false }: Arranged) {
  return { idSort: id_sort, tagMode: tag_mode, untagged }
}
