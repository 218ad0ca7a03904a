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

/** In tag mode, `untagged` adds the channels without a tag as the last group. */
const sort = { id_sort: queryFlag.optional(), tag_mode: queryFlag.optional(), untagged: queryFlag.optional() }
/** `test_failed`: only those whose last test failed. */
const filters = {
  keyword: queryText,
  group: queryText,
  model: queryText,
  status: queryInt,
  type: queryInt,
  tag: queryText,
  test_failed: queryFlag.optional(),
}
const testModel = z.object({ model: queryText })
/** The duration of a test, also of a failed one, in addition to its error. */
const seconds = z.object({
  time: z.number(),
  success: z.boolean().optional(),
  message: z.string().optional(),
  code: z.string().optional(),
})
const balance = z.object({ balance: z.number() })
/** Empty is treated like missing: `gateway/channels/edit/tags.ts` reports it. */
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
    summary: 'List channels by priority, or newest first with id_sort',
    query: z.object({ ...zeroBasedPage, page_size: longPageSize, ...sort }),
    reply: arrayOrPage(channel),
  },
  'GET /api/channel/search': {
    access: 'admin',
    summary: 'Search channels by id or part of the name, model and group',
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
      'Export matching channels as CSV without their keys, in the order of the list, with times of the given zone; recorded in the audit log',
    query: z.object({ ...filters, id_sort: sort.id_sort, time_zone: queryText }),
    reply: z.string(),
    text: { type: 'text/csv', fileName: 'channels.csv' },
  },
  'GET /api/channel/types': { access: 'admin', summary: 'List channel types', reply: z.array(channelType) },
  'GET /api/channel/models': { access: 'admin', summary: 'List all built-in models', reply: z.array(model) },
  'GET /api/channel/models_enabled': {
    access: 'admin',
    summary: 'List models that an enabled channel serves',
    reply: z.array(z.string()),
  },
  'GET /api/models': {
    access: 'user',
    summary: 'List built-in model names by channel type',
    reply: z.record(z.string(), z.array(z.string())),
  },
  'GET /api/channel/:id': { access: 'admin', summary: 'Get a channel', params: idParams, reply: channel },
  'POST /api/channel/': {
    access: 'admin',
    summary: 'Create one channel per line of the key, or one channel with all keys as multi_key; returns their ids',
    body: channelInput,
    reply: z.array(z.int()),
  },
  'POST /api/channel/:id/copy': {
    access: 'admin',
    summary: 'Copy a channel with its key, disabled',
    params: idParams,
    reply: channel,
  },
  'PUT /api/channel/': { access: 'admin', summary: 'Update the given fields of a channel', body: channelPatch, reply: channel },
  'DELETE /api/channel/disabled': {
    access: 'admin',
    summary: 'Delete all disabled channels; returns their number',
    reply: z.int(),
  },
  'DELETE /api/channel/:id': { access: 'admin', summary: 'Delete a channel', params: idParams, reply: z.null() },
  'POST /api/channel/batch': {
    access: 'admin',
    summary: 'Delete several channels; returns the number',
    body: z.object({ ids }),
    reply: z.int(),
  },
  'POST /api/channel/batch/status': {
    access: 'admin',
    summary: 'Enable or disable several channels; returns the number changed',
    body: z.object({ ids, status }),
    reply: z.int(),
  },
  'GET /api/channel/:id/keys': {
    access: 'admin',
    summary: 'List the keys of a channel, without their values',
    params: idParams,
    reply: z.array(channelKey),
  },
  'POST /api/channel/:id/keys': {
    access: 'admin',
    summary: 'Add keys to a channel, one per line, skipping existing ones; returns their ids',
    params: idParams,
    body: z.object({ key: z.string().max(200_000) }),
    reply: z.array(z.int()),
  },
  'POST /api/channel/:id/keys/status': {
    access: 'admin',
    summary: 'Enable or disable keys of a channel; returns the number changed',
    params: idParams,
    body: z.object({ ids, status }),
    reply: z.int(),
  },
  'DELETE /api/channel/:id/keys/:key': {
    access: 'admin',
    summary: 'Delete a key of a channel, except its last',
    params: keyParams,
    reply: z.null(),
  },
  'PUT /api/channel/tag': {
    access: 'admin',
    summary: 'Update all channels of a tag; returns their number',
    body: tagPatch,
    reply: z.int(),
  },
  'POST /api/channel/tag/enabled': { access: 'admin', summary: 'Enable all channels of a tag', body: tag, reply: z.int() },
  'POST /api/channel/tag/disabled': { access: 'admin', summary: 'Disable all channels of a tag', body: tag, reply: z.int() },
  'POST /api/channel/batch/tag': {
    access: 'admin',
    summary: 'Set the tag of several channels, or remove it with null; returns the number',
    body: z.object({ ids, tag: z.string().max(100).trim().nullable().default('') }),
    reply: z.int(),
  },
  'POST /api/channel/fix': {
    access: 'admin',
    summary: 'Delete keys of deleted channels and reload all channels; returns their number',
    reply: z.int(),
  },
  'GET /api/channel/jobs': {
    access: 'admin',
    summary: 'Progress or result of the jobs over all channels',
    reply: z.array(channelJob),
  },
  'GET /api/channel/test': { access: 'admin', summary: 'Start testing all channels', writes: true, reply: z.null() },
  'POST /api/channel/test': { access: 'admin', summary: 'Start testing all channels', reply: z.null() },
  'GET /api/channel/update_balance': {
    access: 'admin',
    summary: 'Start updating the balances of all enabled channels',
    writes: true,
    reply: z.null(),
  },
  'POST /api/channel/update_balance': {
    access: 'admin',
    summary: 'Start updating the balances of all enabled channels',
    reply: z.null(),
  },
  'GET /api/channel/update_balance/:id': {
    access: 'admin',
    summary: "Query the balances of a channel's accounts, in US dollars",
    writes: true,
    params: idParams,
    reply: z.null(),
    extra: balance,
  },
  'POST /api/channel/update_balance/:id': {
    access: 'admin',
    summary: "Query the balances of a channel's accounts, in US dollars",
    params: idParams,
    reply: z.null(),
    extra: balance,
  },
  'GET /api/channel/model_changes': {
    access: 'admin',
    summary: 'List pending model changes of upstreams',
    reply: z.array(modelChanges),
  },
  'POST /api/channel/model_changes': { access: 'admin', summary: 'Start checking upstreams for model changes', reply: z.null() },
  'POST /api/channel/:id/model_changes/apply': {
    access: 'admin',
    summary: 'Apply detected model changes to a channel: the given ones, or all',
    params: idParams,
    body: z.object({ add: modelNames, remove: modelNames }),
    reply: channel,
  },
  'POST /api/channel/:id/model_changes/dismiss': {
    access: 'admin',
    summary: 'Dismiss the detected model changes of a channel',
    params: idParams,
    reply: z.null(),
  },
  'GET /api/channel/test/:id': {
    access: 'admin',
    summary: 'Send a small request through a channel; returns its duration in seconds',
    writes: true,
    params: idParams,
    query: testModel,
    reply: z.null(),
    extra: seconds,
  },
  'POST /api/channel/test/:id': {
    access: 'admin',
    summary: 'Send a small request through a channel; returns its duration in seconds',
    params: idParams,
    query: testModel,
    reply: z.null(),
    extra: seconds,
  },
  'GET /api/channel/fetch_models/:id': {
    access: 'admin',
    summary: "List the models of a channel's upstream",
    params: idParams,
    reply: z.array(z.string()),
  },
  'POST /api/channel/fetch_models': {
    access: 'admin',
    summary: "List an upstream's models, before the channel is saved",
    body: z.object({ base_url: z.string().max(2000).default(''), type: z.int(), key: z.string().max(200_000).default('') }),
    reply: z.array(z.string()),
  },
})
