import { Button } from '@mantine/core'
import type { Channel } from '../../../contract/entities/channel.ts'
import { useText } from '../../lib/i18n.ts'
import { Notice } from '../../ui/page/notice.tsx'
import { texts } from './texts.ts'
import { useBulkTest } from './use-bulk-test.ts'

interface AddedNoticeProps {
  /** The ids of channels that were added together. */
  readonly added: readonly number[]
  readonly rows: readonly Channel[]
}

/** Offers to test the channels that one form has added. */
export function AddedNotice({ added, rows }: AddedNoticeProps) {
  const say = useText(texts)
  const { run, progress } = useBulkTest()
  const channels = added.map((id) => rows.find((row) => row.id === id) ?? { id, name: `#${id}` })
  return (
    <Notice
      action={
        <Button size="compact-sm" variant="default" loading={progress !== undefined} onClick={() => void run(channels)}>
          {say('testAdded', { count: added.length })}
        </Button>
      }
    >
      {progress ? say('testingEach', progress) : say('addedMany', { count: added.length })}
    </Notice>
  )
}
