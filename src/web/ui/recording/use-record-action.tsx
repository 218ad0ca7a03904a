import { IconRadar2 } from '@tabler/icons-react'
import { lazy, type ReactNode, Suspense, useState } from 'react'
import type { RecordingKind } from '../../../contract/entities/recording.ts'
import { useText } from '../../lib/i18n.ts'
import { actionIcon, type RowAction } from '../list/row-action.ts'
import { tagTexts } from './tag-texts.ts'

const RecordDialog = lazy(async () => ({ default: (await import('./record-dialog.tsx')).RecordDialog }))
const RecordOwnToken = lazy(async () => ({ default: (await import('./record-dialog.tsx')).RecordOwnToken }))

interface Recorded {
  /** `own-token`: a token of the user who is logged in. */
  readonly kind: RecordingKind | 'own-token'
  readonly id: number
  readonly name: string
}

/** The action of a row that records its calls, and the dialog that it opens. */
export function useRecordAction({ kind, id, name }: Recorded): { readonly action: RowAction; readonly dialog: ReactNode } {
  const say = useText(tagTexts)
  const [opened, setOpened] = useState(false)
  const onClose = () => setOpened(false)
  return {
    action: { label: say('record'), icon: <IconRadar2 {...actionIcon} />, onClick: () => setOpened(true) },
    dialog: opened && (
      <Suspense>
        {kind === 'own-token' ? (
          <RecordOwnToken id={id} name={name} onClose={onClose} />
        ) : (
          <RecordDialog kind={kind} target={id} name={name} onClose={onClose} />
        )}
      </Suspense>
    ),
  }
}
