import { defineTexts, useText } from '../../lib/i18n.ts'
import { Tag } from './tag.tsx'

const texts = defineTexts({
  own: ['本站设置', 'Set on this site'],
  default: ['内置价格表', 'Built-in table'],
  public: ['公开价格', 'Public price'],
  of: ['{vendor} · 数据截至 {date}', '{vendor} · data of {date}'],
  cheaper: ['其他厂商更便宜：{vendors}', 'Cheaper elsewhere: {vendors}'],
})

interface PriceSourceProps {
  readonly source: 'own' | 'default' | 'public'
  /** For public data: its vendor and date. */
  readonly vendor?: string
  readonly date?: string
  /** Vendors of other channels that sell the model for less. */
  readonly cheaper?: readonly string[]
  readonly className?: string | undefined
}

/** The source of a price. */
export function PriceSource({ source, vendor = '', date = '', cheaper = [], className }: PriceSourceProps) {
  const say = useText(texts)
  return (
    <span>
      <Tag color={source === 'own' ? 'sluice' : source === 'default' ? 'gray' : 'teal'}>{say(source)}</Tag>
      {vendor !== '' && <small className={className}> {say('of', { vendor, date })}</small>}
      {cheaper.length > 0 && <small className={className}> {say('cheaper', { vendors: cheaper.join(', ') })}</small>}
    </span>
  )
}
