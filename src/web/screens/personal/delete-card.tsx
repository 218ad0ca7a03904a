import { Button } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import { useText } from '../../lib/i18n.ts'
import { Panel } from '../../ui/page/panel.tsx'
import styles from './personal.module.css'
import { texts } from './texts.ts'

const DeleteDialog = lazy(async () => ({ default: (await import('./delete-dialog.tsx')).DeleteDialog }))

export function DeleteCard({ username }: { username: string }) {
  const say = useText(texts)
  const [open, setOpen] = useState(false)
  return (
    <Panel title={say('remove')}>
      <div className={styles.row}>
        <span className={styles.sentence}>{say('removeHint')}</span>
        <Button variant="light" color="red" onClick={() => setOpen(true)}>
          {say('removeOpen')}
        </Button>
      </div>
      {open && (
        <Suspense>
          <DeleteDialog username={username} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </Panel>
  )
}
