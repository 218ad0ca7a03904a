import { type Alert, type AlertRuleId, type AlertUnit, alertRuleText } from '../../../contract/entities/alert.ts'
import { fill, inOwnLanguage, type Language, type Text } from '../../../contract/text.ts'
import type { NewMessage } from '../../usage/log/record-event.ts'

export type AlertNews = 'fired' | 'repeated' | 'recovered' | 'test'

const listedMax = 20

const states: Readonly<Record<AlertNews, Text>> = {
  fired: { zh: '告警', en: 'Alert' },
  repeated: { zh: '告警持续', en: 'Still firing' },
  recovered: { zh: '已恢复', en: 'Recovered' },
  test: { zh: '测试告警', en: 'Test alert' },
}

/**
 * One message for all subjects of a rule that changed in the same way: a fault of a hundred subjects does not send a hundred
 * messages.
 */
export function alertMessage(rule: AlertRuleId, news: AlertNews, alerts: readonly Alert[]): NewMessage {
  const { label, unit } = alertRuleText(rule)
  const listed = alerts.slice(0, listedMax)
  const more = alerts.length - listed.length
  const say = (make: (language: Language) => string): Text => ({ zh: make('zh'), en: make('en') })
  return {
    type: `alert.${news}`,
    title: say((language) => `[${states[news][language]}] ${label[language]}`),
    content: say((language) => {
      const lines = listed.map((one) => sentence(rule, one, language))
      const rest = { zh: `另有 ${more} 项`, en: `and ${more} more` }
      return [...lines, ...(more > 0 ? [rest[language]] : [])].join('\n')
    }),
    path: '/alerts',
    data: {
      rule,
      unit,
      alerts: listed.map(({ id, subject, name, value, threshold, fired_at }) => ({
        id,
        subject,
        name,
        value,
        threshold,
        fired_at,
      })),
      more,
    },
  }
}

function sentence(rule: AlertRuleId, { name, value, threshold, note }: Alert, language: Language): string {
  const { says, unit } = alertRuleText(rule)
  const params = {
    name: name === '' ? '-' : name,
    value: valueText(value, unit, language),
    threshold: valueText(threshold, unit, language),
  }
  const said = fill(says[language], params, language)
  return note === '' ? said : `${said}${language === 'zh' ? '。' : '. '}${inOwnLanguage(note, language)}`
}

function valueText(value: number, unit: AlertUnit, language: Language): string {
  const rounded = String(Math.round(value * 10) / 10)
  if (unit === 'percent') return `${rounded}%`
  if (unit === 'usd') return `$${value.toFixed(2)}`
  if (unit === 'seconds') return language === 'zh' ? `${rounded} 秒` : `${rounded} s`
  if (unit === 'hours') return language === 'zh' ? `${rounded} 小时` : `${rounded} h`
  if (unit === 'calls') return language === 'zh' ? `${rounded} 次调用` : `${rounded} ${value === 1 ? 'call' : 'calls'}`
  if (unit === 'days') return language === 'zh' ? `${Math.floor(value)} 天` : `${Math.floor(value)} days`
  return rounded
}
