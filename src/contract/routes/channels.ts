import { z } from 'zod'
import {
  channel,
  channelInput,
  channelJob,
  channelKey,
  channelPatch,
  channelType,
  modelChanges,
  tagPatch,
} from '../entities/channel.ts'
import { model } from '../entities/model.ts'
import { arrayOrPage, idParams, longPageSize, queryFlag, queryInt, queryText, zeroBasedPage } from '../envelope.ts'
import { routes } from '../route.ts'

const sort = { id_sort: queryFlag.optional(), tag_mode: queryFlag.optional() }
const filters = { keyword: queryText, group: queryText, model: queryText, status: queryInt, type: queryInt, tag: queryText }
const testModel = z.object({ model: queryText })
/** The duration of a test, also of a failed one, in addition to its error. */
const seconds = z.object({
  time: z.number(),
  success: z.boolean().optional(),
  message: z.string().optional(),
  code: z.string().optional(),
})
const balance = z.object({ balance: z.number() })
/** Empty is treated like missing: `channels/tags.ts` reports it. */
const tag = z.object({
  tag: z
    .string()
    .max(100)
    .trim()
    .nullish()
    .transform((name) => name ?? ''),
})
const modelNames = z.array(z.string().max(255)).max(10_000).optional()
const ids = z.array(z.int().positive()).min(1).max(1000)
const status = z.union([z.literal(1), z.literal(2)])
const keyParams = idParams.extend({ key: idParams.shape.id })

export const channelRoutes = routes({
  'GET /api/channel/': {
    access: 'admin',
    summary: 'Channels by priority, or newest first with id_sort',
    query: z.object({ ...zeroBasedPage, page_size: longPageSize, ...sort }),
    reply: arrayOrPage(channel),
  },
  'GET /api/channel/search': {
    access: 'admin',
    summary: 'Channels by id or part of the name, model and group',
    query: z.object({
      ...filters,
      ...sort,
      p: zeroBasedPage.p,
      page_size: longPageSize.optional(),
      paged: zeroBasedPage.paged,
    }),
    reply: arrayOrPage(channel),
  },
  'GET /api/channel/export.csv': {
    access: 'admin',
    summary:
      'The channels that match, as CSV without their keys, in the order of the list, with times of the zone that is named; the audit tells who took them',
    query: z.object({ ...filters, id_sort: sort.id_sort, time_zone: queryText }),
    reply: z.string(),
    text: { type: 'text/csv', fileName: 'channels.csv' },
  },
  'GET /api/channel/types': { access: 'admin', summary: 'Kinds of upstream that a channel can be', reply: z.array(channelType) },
  'GET /api/channel/models': { access: 'admin', summary: 'All built-in models', reply: z.array(model) },
  'GET /api/channel/models_enabled': {
    access: 'admin',
    summary: 'Models that an enabled channel serves',
    reply: z.array(z.string()),
  },
  'GET /api/models': {
    access: 'user',
    summary: 'Built-in model names by channel type',
    reply: z.record(z.string(), z.array(z.string())),
  },
  'GET /api/channel/:id': { access: 'admin', summary: 'One channel', params: idParams, reply: channel },
  'POST /api/channel/': {
    access: 'admin',
    summary: 'Add channels, one per line of the key, or one with all of them as multi_key; answers their ids',
    body: channelInput,
    reply: z.array(z.int()),
  },
  'POST /api/channel/:id/copy': {
    access: 'admin',
    summary: 'Copy a channel with its key, disabled',
    params: idParams,
    reply: channel,
  },
  'PUT /api/channel/': { access: 'admin', summary: 'Change the given fields of a channel', body: channelPatch, reply: channel },
  'DELETE /api/channel/disabled': { access: 'admin', summary: 'Delete all disabled channels; answers how many', reply: z.int() },
  'DELETE /api/channel/:id': { access: 'admin', summary: 'Delete a channel', params: idParams, reply: z.null() },
  'POST /api/channel/batch': {
    access: 'admin',
    summary: 'Delete several channels; answers how many',
    body: z.object({ ids }),
    reply: z.int(),
  },
  'POST /api/channel/batch/status': {
    access: 'admin',
    summary: 'Enable or disable several channels; answers how many changed',
    body: z.object({ ids, status }),
    reply: z.int(),
  },
  'GET /api/channel/:id/keys': {
    access: 'admin',
    summary: 'Keys of a channel, without the keys themselves',
    params: idParams,
    reply: z.array(channelKey),
  },
  'POST /api/channel/:id/keys': {
    access: 'admin',
    summary: 'Add keys to a channel, one per line, passing over those that it has; answers their ids',
    params: idParams,
    body: z.object({ key: z.string().max(200_000) }),
    reply: z.array(z.int()),
  },
  'POST /api/channel/:id/keys/status': {
    access: 'admin',
    summary: 'Enable or disable keys of a channel; answers how many changed',
    params: idParams,
    body: z.object({ ids, status }),
    reply: z.int(),
  },
  'DELETE /api/channel/:id/keys/:key': {
    access: 'admin',
    summary: 'Remove a key from a channel that has others',
    params: keyParams,
    reply: z.null(),
  },
  'PUT /api/channel/tag': {
    access: 'admin',
    summary: 'Change all channels of a tag; answers how many',
    body: tagPatch,
    reply: z.int(),
  },
  'POST /api/channel/tag/enabled': { access: 'admin', summary: 'Enable all channels of a tag', body: tag, reply: z.int() },
  'POST /api/channel/tag/disabled': { access: 'admin', summary: 'Disable all channels of a tag', body: tag, reply: z.int() },
  'POST /api/channel/batch/tag': {
    access: 'admin',
    summary: 'Give several channels a tag, or take theirs with null; answers how many',
    body: z.object({ ids, tag: z.string().max(100).trim().nullable().default('') }),
    reply: z.int(),
  },
  'POST /api/channel/fix': {
    access: 'admin',
    summary: 'Remove what belongs to no channel and read all channels anew; answers how many there are',
    reply: z.int(),
  },
  'GET /api/channel/jobs': {
    access: 'admin',
    summary: 'How far the jobs over all channels are, or how they ended',
    reply: z.array(channelJob),
  },
  'GET /api/channel/test': { access: 'admin', summary: 'Start testing all channels', writes: true, reply: z.null() },
  'POST /api/channel/test': { access: 'admin', summary: 'Start testing all channels', reply: z.null() },
  'GET /api/channel/update_balance': {
    access: 'admin',
    summary: 'Start reading the balances of all enabled channels',
    writes: true,
    reply: z.null(),
  },
  'POST /api/channel/update_balance': {
    access: 'admin',
    summary: 'Start reading the balances of all enabled channels',
    reply: z.null(),
  },
  'GET /api/channel/update_balance/:id': {
    access: 'admin',
    summary: 'Read what is left on the accounts of a channel, in US dollars',
    writes: true,
    params: idParams,
    reply: z.null(),
    extra: balance,
  },
  'POST /api/channel/update_balance/:id': {
    access: 'admin',
    summary: 'Read what is left on the accounts of a channel, in US dollars',
    params: idParams,
    reply: z.null(),
    extra: balance,
  },
  'GET /api/channel/model_changes': {
    access: 'admin',
    summary: 'Models that upstreams have added or dropped and nobody has applied or dismissed',
    reply: z.array(modelChanges),
  },
  'POST /api/channel/model_changes': { access: 'admin', summary: 'Start looking for such changes', reply: z.null() },
  'POST /api/channel/:id/model_changes/apply': {
    access: 'admin',
    summary: 'Take noticed models into the list of a channel and out of it: the given ones, or all',
    params: idParams,
    body: z.object({ add: modelNames, remove: modelNames }),
    reply: channel,
  },
  'POST /api/channel/:id/model_changes/dismiss': {
    access: 'admin',
    summary: 'Forget what was noticed of a channel',
    params: idParams,
    reply: z.null(),
  },
  'GET /api/channel/test/:id': {
    access: 'admin',
    summary: 'Send a small request through a channel; answers the seconds it took',
    writes: true,
    params: idParams,
    query: testModel,
    reply: z.null(),
    extra: seconds,
  },
  'POST /api/channel/test/:id': {
    access: 'admin',
    summary: 'Send a small request through a channel; answers the seconds it took',
    params: idParams,
    query: testModel,
    reply: z.null(),
    extra: seconds,
  },
  'GET /api/channel/fetch_models/:id': {
    access: 'admin',
    summary: 'Models that the upstream lists',
    params: idParams,
    reply: z.array(z.string()),
  },
  'POST /api/channel/fetch_models': {
    access: 'admin',
    summary: 'Models that an upstream lists, before the channel is saved',
    body: z.object({ base_url: z.string().max(2000).default(''), type: z.int(), key: z.string().max(200_000).default('') }),
    reply: z.array(z.string()),
  },
})
