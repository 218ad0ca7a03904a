import { incidentStateLabels } from '../../../contract/entities/incident.ts'
import type { StatusPage } from '../../../contract/entities/status-page.ts'
import type { Language } from '../../../contract/text.ts'
import { escapedXml } from '../../base/lib/bytes/escaped-xml.ts'

interface Feed {
  /** The name of the site. */
  readonly site: string
  /** The address of the site without a trailing slash; '' where none is set. */
  readonly address: string
  readonly language: Language
}

/** Incidents and maintenance as RSS 2.0: an item for each update, the newest first. Pure. Source: the RSS 2.0 specification. */
export function drawFeed(
  { incidents, updated_at }: Pick<StatusPage, 'incidents' | 'updated_at'>,
  { site, address, language }: Feed,
): string {
  const link = `${address}/status`
  const items = incidents
    .flatMap((incident) =>
      incident.updates.map((update, index) => ({ incident, update, place: incident.updates.length - index })),
    )
    .sort((one, other) => other.update.created_at - one.update.created_at)
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<rss version="2.0"><channel>',
    element('title', { zh: `${site} 服务状态`, en: `${site} status` }[language]),
    element('link', link),
    element('description', { zh: '事件与计划维护', en: 'Incidents and planned maintenance' }[language]),
    element('language', { zh: 'zh-CN', en: 'en' }[language]),
    element('lastBuildDate', dateOf(updated_at)),
    ...items.map(({ incident, update, place }) =>
      [
        '<item>',
        element('title', `${incidentStateLabels[update.state][language]}: ${incident.title}`),
        element('link', link),
        `<guid isPermaLink="false">incident-${incident.id}-${place}</guid>`,
        element('pubDate', dateOf(update.created_at)),
        element('description', update.message),
        '</item>',
      ].join(''),
    ),
    '</channel></rss>',
    '',
  ].join('\n')
}

const element = (name: string, text: string): string => `<${name}>${escapedXml(text)}</${name}>`

/** The form of RFC 822 that RSS asks for. */
const dateOf = (seconds: number): string => new Date(seconds * 1000).toUTCString()
