import { Button } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useText } from '../../lib/i18n.ts'
import { toast } from '../../lib/toast.ts'
import type { Drafts } from './drafts.ts'
import { StickyBar } from './sticky-bar.tsx'
import { texts } from './texts.ts'

/** Saves or discards the changes of all tabs. It stays in view. */
export function SaveBar({ drafts }: { drafts: Drafts }) {
  const say = useText(texts)
  const { save, saving } = useSave(drafts)
  const keys = Object.keys(drafts.values)
  const dirty = keys.length > 0
  return (
    <StickyBar label={say('changes')} text={dirty ? say('changeCount', { count: keys.length }) : say('noChanges')} dirty={dirty}>
      {dirty && (
        <Button variant="default" onClick={() => drafts.drop(keys)} disabled={saving}>
          {say('discard')}
        </Button>
      )}
      <Button variant={dirty ? 'filled' : 'default'} onClick={() => void save()} loading={saving}>
        {say('save')}
      </Button>
    </StickyBar>
  )
}

function useSave(drafts: Drafts): { save: () => Promise<void>; saving: boolean } {
  const say = useText(texts)
  const client = useQueryClient()
  const [saving, setSaving] = useState(false)

  async function save(): Promise<void> {
    if (Object.keys(drafts.values).length === 0) return toast.warn(say('nothingChanged'))
    setSaving(true)
    try {
      // The schemas and their library are heavier than all fields together.
      const { saveDrafts } = await import('./save-drafts.ts')
      await saveDrafts(drafts, client)
    } catch (cause) {
      toast.failureOf(say('failed'), cause)
    } finally {
      setSaving(false)
    }
  }

  return { save, saving }
}
