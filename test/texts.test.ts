import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { alertRuleFields, alertRuleIds, alertSilenceFields } from '../src/contract/entities/alert.ts'
import { budgetFields, budgetOverrideFields } from '../src/contract/entities/budget.ts'
import { channelRoutingFields, channelTagFields, channelUpstreamFields } from '../src/contract/entities/channel-fields.ts'
import { channelStatusLabels } from '../src/contract/entities/channel-status.ts'
import { destinationFields, destinationKinds } from '../src/contract/entities/destination.ts'
import { incidentFields, incidentUpdateFields } from '../src/contract/entities/incident.ts'
import { ledgerKindLabels } from '../src/contract/entities/ledger-row.ts'
import { logTypeLabels } from '../src/contract/entities/log.ts'
import { qualityFields } from '../src/contract/entities/quality-check.ts'
import { redemptionFields, redemptionStatusLabels } from '../src/contract/entities/redemption.ts'
import { tokenFields, tokenStatusLabels } from '../src/contract/entities/token.ts'
import { topUpStatusLabels } from '../src/contract/entities/top-up.ts'
import { newUserFields, userEditFields, userStatusLabels } from '../src/contract/entities/user.ts'
import { errors } from '../src/contract/errors.ts'
import { sections } from '../src/contract/options/index.ts'
import { roleLabels } from '../src/contract/roles.ts'
import { providers } from '../src/server/gateway/providers/index.ts'
import { mails } from '../src/server/people/notify/mails.ts'
import { jobs } from '../src/server/watch/jobs/table.ts'
import { faultsOfTexts } from './helpers/texts.ts'

describe('texts that are declared once', () => {
  const declarations = {
    errors,
    mails,
    sections,
    roleLabels,
    channelStatusLabels,
    logTypeLabels,
    ledgerKindLabels,
    redemptionStatusLabels,
    tokenStatusLabels,
    topUpStatusLabels,
    userStatusLabels,
    redemptionFields,
    tokenFields,
    incidentFields,
    incidentUpdateFields: incidentUpdateFields('incident'),
    destinationFields,
    destinationKinds,
    alertSilenceFields,
    alertRuleFields: alertRuleIds.map(alertRuleFields),
    budgetFields,
    budgetOverrideFields,
    channelRoutingFields,
    channelTagFields: [channelTagFields(true), channelTagFields(false)],
    channelUpstreamFields,
    newUserFields,
    userEditFields,
    qualityFields,
    providers,
    jobs,
  }

  it.each(Object.entries(declarations))('%s have matching texts in Chinese and in English', (_name, declared) => {
    expect(faultsOfTexts(declared)).toEqual([])
  })

  it('are reported when a language is missing, empty, or has other parameters', () => {
    expect(faultsOfTexts({ label: { zh: '好', en: '' } })).toEqual(['label: en is empty'])
    expect(faultsOfTexts({ a: { label: { zh: '好' } } })).toEqual(['a.label: en is missing'])
    expect(faultsOfTexts([{ text: { zh: '差 {need}', en: 'lacks {needs}' } }])).toEqual([
      '0.text: the languages name other parameters',
    ])
    expect(faultsOfTexts({ text: { zh: '好', en: 'good' } })).toEqual([])
  })
})

describe('Chinese words', () => {
  it('are in the glossary for each of its terms', () => {
    const lines = readFileSync(new URL('../docs/reference/glossary.md', import.meta.url), 'utf8').split('\n')
    const rows = lines.filter((line) => /^\| (?!Term )/.test(line)).map((line) => line.split('|').map((cell) => cell.trim()))
    expect(rows.length).toBeGreaterThan(50)
    expect(rows.filter(([, term, chinese = '', meaning]) => !term || !meaning || !/\p{Script=Han}/u.test(chinese))).toEqual([])
  })

  it('call the clipboard 剪贴板 everywhere', () => {
    const folder = new URL('../src/', import.meta.url)
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => /\.tsx?$/.test(path))
    const words = files.flatMap((path) => readFileSync(new URL(path, folder), 'utf8').match(/剪./g) ?? [])
    expect(new Set(words)).toEqual(new Set(['剪贴']))
  })
})
