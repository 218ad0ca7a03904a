import { Button } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useText } from '../../lib/i18n.ts'
import { toast } from '../../lib/toast.ts'
import type { Drafts } from './drafts.ts'
import styles from './save-bar.module.css'
import { texts } from './texts.ts'

/** Saves or discards the changes of all tabs. It stays in view, and is there only while something is changed. */
export function SaveBar({ drafts }: { drafts: Drafts }) {
  const say = useText(texts)
  const { save, saving } = useSave(drafts)
  const keys = Object.keys(drafts.values)
  if (keys.length === 0) return null
  return (
    <section className={styles.bar} aria-label={say('changes')}>
      <span className={styles.text} role="status">
        {say('changeCount', { count: keys.length })}
      </span>
      <Button variant="default" onClick={() => drafts.drop(keys)} disabled={saving}>
        {say('discard')}
      </Button>
      <Button onClick={() => void save()} loading={saving}>
        {say('save')}
      </Button>
    </section>
  )
}

function useSave(drafts: Drafts): { save: () => Promise<void>; saving: boolean } {
  const say = useText(texts)
  const client = useQueryClient()
  const [saving, setSaving] = useState(false)

  async function save(): Promise<void> {
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
