import { ActionIcon, Button, Stack, TextInput, Tooltip, UnstyledButton } from '@mantine/core'
import { IconMessages, IconPencil, IconTrash } from '@tabler/icons-react'
import { useState } from 'react'
import { textOf, useText } from '../../lib/i18n.ts'
import { confirm } from '../../ui/dialog/confirm.tsx'
import { Empty } from '../../ui/page/empty.tsx'
import shared from '../../ui/shared.module.css'
import { TimeText } from '../../ui/view/time-text.tsx'
import { conversationsMax, type Head } from './archive.ts'
import type { Library, LibraryState } from './library.ts'
import styles from './playground.module.css'
import { texts } from './texts.ts'

interface HistoryPanelProps {
  readonly library: Library
  readonly shelf: LibraryState
  readonly onOpened: () => void
}

/** The conversations that this browser stores. */
export function HistoryPanel({ library, shelf: { heads, conversation }, onOpened }: HistoryPanelProps) {
  const say = useText(texts)
  const [naming, setNaming] = useState('')
  if (heads.length === 0) return <Empty icon={<IconMessages />} title={say('historyEmpty')} hint={say('historyEmptyHint')} />

  async function clearAll(): Promise<void> {
    const sure = await confirm({
      title: textOf(texts, 'historyClearTitle'),
      body: textOf(texts, 'historyClearBody', { count: heads.length }),
      confirmLabel: textOf(texts, 'historyClear'),
      danger: true,
    })
    if (sure) await library.remove(heads.map(({ id }) => id))
  }

  async function open(head: Head): Promise<void> {
    await library.open(head.id)
    onOpened()
  }

  return (
    <Stack gap="md">
      <ul className={styles.heads} aria-label={say('history')}>
        {heads.map((head) => (
          <li key={head.id} className={styles.head} data-open={head.id === conversation.id}>
            {naming === head.id ? (
              <Naming
                head={head}
                onDone={(title) => {
                  if (title !== undefined) void library.rename(head, title)
                  setNaming('')
                }}
              />
            ) : (
              <HeadRow
                head={head}
                isOpen={head.id === conversation.id}
                onOpen={() => void open(head)}
                onRename={() => setNaming(head.id)}
                onRemove={() => void askRemove(library, head)}
              />
            )}
          </li>
        ))}
      </ul>
      <Stack gap="xs" align="flex-start">
        <p className={shared.hint}>{say('historyHint', { count: conversationsMax })}</p>
        <Button
          size="compact-sm"
          variant="subtle"
          color="red"
          leftSection={<IconTrash size={15} />}
          onClick={() => void clearAll()}
        >
          {say('historyClear')}
        </Button>
      </Stack>
    </Stack>
  )
}

interface HeadRowProps {
  readonly head: Head
  readonly isOpen: boolean
  readonly onOpen: () => void
  readonly onRename: () => void
  readonly onRemove: () => void
}

function HeadRow({ head, isOpen, onOpen, onRename, onRemove }: HeadRowProps) {
  const say = useText(texts)
  const title = head.title || say('untitled')
  return (
    <>
      <UnstyledButton className={shared.grow} aria-current={isOpen} onClick={onOpen}>
        <span className={shared.truncated}>{title}</span>
        <span className={shared.note}>
          <TimeText seconds={Math.floor(head.updatedAtMs / 1000)} />
        </span>
      </UnstyledButton>
      <span className={styles.headTools}>
        <Tooltip label={say('rename')}>
          <ActionIcon size="sm" aria-label={`${say('rename')}: ${title}`} onClick={onRename}>
            <IconPencil size={15} stroke={1.6} />
          </ActionIcon>
        </Tooltip>
        <Tooltip label={say('historyRemove')}>
          <ActionIcon size="sm" aria-label={`${say('historyRemove')}: ${title}`} onClick={onRemove}>
            <IconTrash size={15} stroke={1.6} />
          </ActionIcon>
        </Tooltip>
      </span>
    </>
  )
}

const titleLengthMax = 100

/** Enter saves the new name, Escape keeps the old one. */
function Naming({ head, onDone }: { head: Head; onDone: (title: string | undefined) => void }) {
  const say = useText(texts)
  const [title, setTitle] = useState(head.title)
  const done = () => onDone(title.trim() === '' ? undefined : title.trim())
  return (
    <TextInput
      flex={1}
      size="xs"
      autoFocus
      aria-label={say('rename')}
      maxLength={titleLengthMax}
      value={title}
      onChange={(event) => setTitle(event.currentTarget.value)}
      onBlur={done}
      onKeyDown={(event) => {
        if (event.key === 'Enter') done()
        if (event.key !== 'Escape') return
        event.stopPropagation()
        onDone(undefined)
      }}
    />
  )
}

async function askRemove(library: Library, head: Head): Promise<void> {
  const sure = await confirm({
    title: textOf(texts, 'historyRemoveTitle'),
    object: head.title || textOf(texts, 'untitled'),
    confirmLabel: textOf(texts, 'historyRemove'),
    danger: true,
  })
  if (sure) await library.remove([head.id])
}
