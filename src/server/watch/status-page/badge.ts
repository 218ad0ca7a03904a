import { type ServiceState, type StatusPage, serviceStateLabels } from '../../../contract/entities/status-page.ts'
import type { Language } from '../../../contract/text.ts'
import { escapedXml } from '../../base/lib/bytes/escaped-xml.ts'

const colors: Readonly<Record<ServiceState, string>> = {
  unknown: '#6b7280',
  operational: '#15803d',
  maintenance: '#1d4ed8',
  degraded: '#b45309',
  outage: '#b91c1c',
}

const siteLabel = { zh: '服务状态', en: 'status' }
const height = 20

interface BadgeRequest {
  /** '' means the site. */
  readonly model: string
  /** '' means the first group that has the model. */
  readonly group: string
  readonly language: Language
}

/** The state of the site, or of one of its models, as an image for other pages. Pure. */
export function drawBadge(page: Pick<StatusPage, 'state' | 'groups'>, { model, group, language }: BadgeRequest): string {
  const groups = group === '' ? page.groups : page.groups.filter(({ name }) => name === group)
  const found = groups.flatMap(({ models }) => models).find(({ name }) => name === model)
  const state = model === '' ? page.state : (found?.state ?? 'unknown')
  const label = model === '' ? siteLabel[language] : model
  return draw({ label, text: serviceStateLabels[state][language].toLowerCase(), color: colors[state] })
}

function draw({ label, text, color }: { label: string; text: string; color: string }): string {
  const [left, right] = [widthOf(label), widthOf(text)]
  const width = left + right
  const written = (content: string, x: number, size: number) =>
    `<text x="${x + size / 2}" y="14" textLength="${size - 12}" lengthAdjust="spacingAndGlyphs">${escapedXml(content)}</text>`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" role="img" aria-label="${escapedXml(`${label}: ${text}`)}">`,
    `<title>${escapedXml(`${label}: ${text}`)}</title>`,
    `<clipPath id="edge"><rect width="${width}" height="${height}" rx="3"/></clipPath>`,
    `<g clip-path="url(#edge)"><rect width="${left}" height="${height}" fill="#374151"/>`,
    `<rect x="${left}" width="${right}" height="${height}" fill="${color}"/></g>`,
    '<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,Geneva,sans-serif" font-size="11">',
    `${written(label, 0, left)}${written(text, left, right)}</g></svg>`,
  ].join('')
}

/** The approximate width of the drawn text: viewers stretch the text to it. */
function widthOf(text: string): number {
  const signs = [...text].reduce((sum, sign) => sum + ((sign.codePointAt(0) ?? 0) > 0x2e80 ? 12 : 6.6), 0)
  return Math.round(signs) + 12
}
