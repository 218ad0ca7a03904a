import type { BudgetPeriod, BudgetScope, OrganisationBudgetScope } from '../../../contract/entities/budget.ts'
import type { Text } from '../../../contract/text.ts'

/** What callers and people are told about budgets: whose they are, their periods, and who may raise them. */

export function isOfOrganisation(scope: BudgetScope): scope is OrganisationBudgetScope {
  return scope === 'organisation' || scope === 'team' || scope === 'member'
}

/** Beside when a budget renews: who may raise it. */
export function withRaise({ scope, isOfSite }: { readonly scope: BudgetScope; readonly isOfSite: boolean }, renews: Text): Text {
  if (!isOfOrganisation(scope)) return renews
  const may = isOfSite ? raisedBySite : raisedBy[scope]
  return { zh: `${renews.zh}${may.zh}`, en: `${renews.en} ${may.en}` }
}

const raisedBySite: Text = { zh: '站点管理员可以提高它。', en: 'An admin of the site may raise it.' }

const raisedBy: Readonly<Record<OrganisationBudgetScope, Text>> = {
  organisation: { zh: '组织的所有者和管理员可以提高它。', en: 'An owner or admin of the organisation may raise it.' },
  team: {
    zh: '上级团队的负责人、组织的所有者和管理员可以提高它。',
    en: 'A manager of a team above, or an owner or admin of the organisation, may raise it.',
  },
  member: {
    zh: '团队负责人、组织的所有者和管理员可以提高它。',
    en: 'A manager of your team, or an owner or admin of the organisation, may raise it.',
  },
}

export const whoseTexts: Readonly<Record<BudgetScope, Text>> = {
  user: { zh: '您', en: 'your account' },
  group: { zh: '当前分组', en: 'your group' },
  token: { zh: '该令牌', en: 'this API key' },
  model: { zh: '该模型', en: 'this model' },
  channel: { zh: '该渠道', en: 'the channel' },
  organisation: { zh: '组织', en: 'the organisation' },
  team: { zh: '团队', en: 'the team' },
  member: { zh: '你在组织中', en: 'your membership' },
}

export function periodText({ period, seconds: length }: { readonly period: BudgetPeriod; readonly seconds: number }): Text {
  if (period !== 'sliding') return periodTexts[period]
  const units = [
    [86_400, '天', 'day'],
    [3600, '小时', 'hour'],
    [60, '分钟', 'minute'],
    [1, '秒', 'second'],
  ] as const
  const [unit, zh, en] = units.find(([each]) => length % each === 0) ?? units[3]
  const count = length / unit
  return { zh: `每 ${count} ${zh}`, en: `within ${count} ${en}${count === 1 ? '' : 's'}` }
}

const periodTexts: Readonly<Record<Exclude<BudgetPeriod, 'sliding'>, Text>> = {
  day: { zh: '每天', en: 'a day' },
  week: { zh: '每周', en: 'a week' },
  month: { zh: '每月', en: 'a month' },
  total: { zh: '总计', en: 'in total' },
}
