import { lazy, Suspense } from 'react'
import type { Channel } from '../../../contract/entities/channel.ts'
import { useText } from '../../lib/i18n.ts'
import { SideDrawer } from '../../ui/dialog/side-drawer.tsx'
import type { Tagged } from './tags/tagged.ts'
import { texts } from './texts.ts'
import type { Jobs } from './upkeep/use-jobs.ts'

const BatchTag = lazy(async () => ({ default: (await import('./tags/batch-tag.tsx')).BatchTag }))
const ModelChangesDialog = lazy(async () => ({ default: (await import('./upkeep/model-changes.tsx')).ModelChangesDialog }))
const TagForm = lazy(async () => ({ default: (await import('./tags/tag-form.tsx')).TagForm }))
const TestDialog = lazy(async () => ({ default: (await import('./testing/test-dialog.tsx')).TestDialog }))

/** The dialogs over the list, besides the form and the keys of a channel. */
export type Opened =
  | { readonly kind: 'test'; readonly channel: Channel }
  | { readonly kind: 'batch-tag'; readonly ids: readonly number[]; readonly done: () => void }
  | { readonly kind: 'tag'; readonly tagged: Tagged }
  | { readonly kind: 'changes' }

interface ChannelDialogsProps {
  readonly opened: Opened | undefined
  readonly channels: readonly Channel[]
  readonly jobs: Jobs
  readonly onClose: () => void
}

export function ChannelDialogs({ opened, channels, jobs, onClose }: ChannelDialogsProps) {
  const say = useText(texts)
  return (
    <>
      <Suspense>
        {opened?.kind === 'test' && <TestDialog channel={opened.channel} onClose={onClose} />}
        {opened?.kind === 'batch-tag' && (
          <BatchTag
            ids={opened.ids}
            known={[...new Set(channels.flatMap(({ tag }) => tag || []))].sort()}
            onDone={opened.done}
            onClose={onClose}
          />
        )}
        {opened?.kind === 'changes' && <ModelChangesDialog jobs={jobs} onClose={onClose} />}
      </Suspense>
      <SideDrawer
        subject={opened?.kind === 'tag' ? opened.tagged : undefined}
        title={({ tag }) => say('editTagTitle', { tag })}
        onClose={onClose}
      >
        {(tagged) => <TagForm tagged={tagged} onDone={onClose} />}
      </SideDrawer>
    </>
  )
}
