import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useBlocker } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../../../lib/call.ts'
import { useText } from '../../../lib/i18n.ts'
import { invalidate, read } from '../../../lib/query.ts'
import { toast } from '../../../lib/toast.ts'
import { confirmDiscard } from '../../../ui/dialog/confirm.tsx'
import { texts as settingsTexts } from '../texts.ts'
import {
  faultyModels,
  type ModelPrices,
  noPrices,
  type OptionTexts,
  type PriceDrafts,
  type PriceTable,
  priceFields,
  readTable,
  withDrafts,
  writeTable,
} from './table.ts'
import { texts } from './texts.ts'

export interface PriceEditing {
  /** The charged prices. */
  readonly saved: PriceTable
  /** The prices with the changes made here. */
  readonly table: PriceTable
  readonly drafts: PriceDrafts
  /** All saved options, including ratios that this table does not change. */
  readonly options: OptionTexts
  readonly set: (changed: PriceDrafts) => void
  readonly undo: () => void
  readonly apply: () => Promise<void>
  readonly saving: boolean
}

/** The price table and its unsaved changes: nothing is charged before they are applied. */
export function usePriceTable(): PriceEditing {
  const say = useText(texts)
  const saySettings = useText(settingsTexts)
  const client = useQueryClient()
  const options = useQuery(read('GET /api/option/'))
  const [drafts, setDrafts] = useState<PriceDrafts>({})
  const [saving, setSaving] = useState(false)
  const optionTexts = Object.fromEntries((options.data ?? []).map(({ key, value }) => [key, value]))
  const saved = readTable(optionTexts)
  const dirty = Object.keys(drafts).length > 0
  useBlocker({
    disabled: !dirty,
    enableBeforeUnload: dirty,
    shouldBlockFn: async ({ next }) => {
      const search: { view?: string; tab?: string } = next.search
      const stays = next.pathname === '/setting' && search.tab === 'prices' && search.view !== 'options'
      return !stays && !(await confirmDiscard())
    },
  })

  function set(changed: PriceDrafts): void {
    const next = Object.entries({ ...drafts, ...changed })
    setDrafts(
      Object.fromEntries(
        next.filter(([name, prices]) => !isAsSaved(Object.hasOwn(saved, name) ? saved[name] : undefined, prices)),
      ),
    )
  }

  async function apply(): Promise<void> {
    const faulty = faultyModels(drafts)
    if (faulty.length > 0) {
      toast.error(say('notNumbers', { models: faulty.join(', ') }))
      return
    }
    const changed = Object.entries(writeTable(optionTexts, drafts))
    if (changed.length === 0) return toast.warn(saySettings('nothingChanged'))
    setSaving(true)
    const results = await Promise.allSettled(changed.map(([key, value]) => call('PUT /api/option/', { body: { key, value } })))
    await invalidate(client, ['GET /api/option/', 'GET /api/pricing/proposals', 'GET /api/pricing/models'])
    setSaving(false)
    const failed = results.filter(({ status }) => status === 'rejected').length
    if (failed > 0) return toast.error(saySettings(failed < changed.length ? 'partlyFailed' : 'failed'))
    setDrafts({})
    toast.success(saySettings('saved'))
  }

  return { saved, table: withDrafts(saved, drafts), drafts, options: optionTexts, set, undo: () => setDrafts({}), apply, saving }
}

function isAsSaved(saved: ModelPrices | undefined, draft: ModelPrices | null): boolean {
  if (draft === null) return saved === undefined
  const before = saved ?? noPrices
  return priceFields.every((field) => before[field] === draft[field])
}
