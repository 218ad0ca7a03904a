import { z } from 'zod'
import {
  alert,
  alertPreview,
  alertRule,
  alertRuleIds,
  alertRuleInput,
  alertSilence,
  alertSilenceInput,
} from '../entities/alert.ts'
import {
  delivery,
  deliveryAnswer,
  deliveryStates,
  destination,
  destinationChange,
  destinationInput,
} from '../entities/destination.ts'
import { idParams, oneBasedPage, page, queryInt, queryText } from '../envelope.ts'
import { routes } from '../route.ts'

const stateFilter = queryText.transform((text) => deliveryStates.find((state) => state === text))

const ruleParams = z.object({ rule: z.enum(alertRuleIds) })
const ruleFilter = queryText.transform((text) => alertRuleIds.find((rule) => rule === text))

export const alertRoutes = routes({
  'GET /api/alert/rule/': {
    access: 'admin',
    summary: 'List the rules of alerts with their settings and what fires now',
    reply: z.array(alertRule),
  },
  'PUT /api/alert/rule/:rule': {
    access: 'admin',
    summary: 'Update a rule: whether it is on, its parameters, scope, destinations, repetition and recovery notices',
    params: ruleParams,
    body: alertRuleInput,
    reply: z.null(),
  },
  'POST /api/alert/rule/:rule/preview': {
    access: 'admin',
    summary: 'How often a rule with these parameters and scope would have fired in the last seven days',
    limit: 'critical',
    params: ruleParams,
    body: alertRuleInput.pick({ params: true, scope: true }),
    reply: alertPreview,
  },
  'POST /api/alert/rule/:rule/test': {
    access: 'admin',
    summary: 'Send a test alert of a rule to its destinations at once; returns what each answered',
    limit: 'critical',
    params: ruleParams,
    reply: z.array(deliveryAnswer.extend({ destination_id: z.int() })),
  },
  'GET /api/alert/history/': {
    access: 'admin',
    summary: 'List what has fired in the last 90 days, newest first',
    query: z.object({ ...oneBasedPage, rule: ruleFilter }),
    reply: page(alert),
  },
  'GET /api/alert/silence/': { access: 'admin', summary: 'List silences that have not ended', reply: z.array(alertSilence) },
  'POST /api/alert/silence/': {
    access: 'admin',
    summary: 'Silence a rule, a subject or everything until a time: alerts fire without messages',
    body: alertSilenceInput,
    reply: z.null(),
  },
  'DELETE /api/alert/silence/:id': { access: 'admin', summary: 'End a silence', params: idParams, reply: z.null() },
  'GET /api/alert/destination/': {
    access: 'admin',
    summary: 'List destinations of alerts and events, by name; secrets are left out',
    reply: z.array(destination),
  },
  'POST /api/alert/destination/': {
    access: 'admin',
    summary: 'Create a destination: mail, webhook, Slack, Telegram, Feishu or DingTalk',
    body: destinationInput,
    reply: destination,
  },
  'PUT /api/alert/destination/:id': {
    access: 'admin',
    summary: 'Update a destination; absent members and empty secrets stay unchanged. `enabled` switches it on or off',
    params: idParams,
    body: destinationChange,
    reply: destination,
  },
  'DELETE /api/alert/destination/:id': {
    access: 'admin',
    summary: 'Delete a destination and its deliveries',
    params: idParams,
    reply: z.null(),
  },
  'POST /api/alert/destination/:id/test': {
    access: 'admin',
    summary: 'Send a test message at once; returns what the destination answered',
    limit: 'critical',
    params: idParams,
    reply: deliveryAnswer,
  },
  'GET /api/alert/delivery/': {
    access: 'admin',
    summary: 'List deliveries of the last 30 days, newest first',
    query: z.object({ ...oneBasedPage, destination: queryInt, state: stateFilter }),
    reply: page(delivery),
  },
  'POST /api/alert/delivery/:id/send': {
    access: 'admin',
    summary: 'Send a delivery again under its message id',
    params: idParams,
    reply: z.null(),
  },
})
