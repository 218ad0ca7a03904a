import { ActionIcon, Button, TextInput, Tooltip } from '@mantine/core'
import { IconArrowUp, IconPlus } from '@tabler/icons-react'
import { useRef } from 'react'
import { type ChatPlace, chatPlaces } from '../../../contract/chats.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { useServerAddress } from '../../lib/server-address.ts'
import styles from './chat-list.module.css'
import { texts } from './chat-list-texts.ts'
import { type ChatRow, faultsOfChat, missingChats, newChat, readChats, writeChats } from './chat-rows.ts'
import { type RowProps, RowsEditor, type RowsEditorProps } from './rows-editor.tsx'

type ChatListProps = Pick<RowsEditorProps<ChatRow>, 'label' | 'description' | 'error' | 'disabled' | 'value' | 'onChange'>

/** Chat pages and their links, each with the application that it opens. */
export function ChatList(props: ChatListProps) {
  const say = useText(texts)
  const isChecked = props.error !== undefined
  return (
    <RowsEditor<ChatRow>
      {...props}
      read={readChats}
      write={writeChats}
      newRow={newChat}
      addLabel={say('add')}
      nameOf={({ name }) => name}
      footer={<KnownPages {...props} />}
    >
      {(row) => <ChatFields {...row} isChecked={isChecked} disabled={props.disabled} />}
    </RowsEditor>
  )
}

type FieldsProps = RowProps<ChatRow> & { readonly isChecked: boolean; readonly disabled: boolean | undefined }

/** `isChecked`: empty fields are reported, too. */
function ChatFields({ row, index, change, moveUp, isChecked, disabled }: FieldsProps) {
  const say = useText(texts)
  const local = useLocal()
  const input = useRef<HTMLInputElement>(null)
  const faults = faultsOfChat(row)
  const errorAt = (field: keyof ChatRow) => (row[field] !== '' || isChecked) && faults[field] && local(faults[field])
  const of = say('of', { index: index + 1 })

  /** The last position of the cursor. */
  function insert(place: ChatPlace): void {
    const at = input.current?.selectionStart ?? row.link.length
    change({ ...row, link: `${row.link.slice(0, at)}${place}${row.link.slice(at)}` })
    input.current?.focus()
  }

  return (
    <div className={styles.row}>
      <div className={styles.line}>
        <TextInput
          aria-label={`${say('name')} ${of}`}
          placeholder={say('namePlaceholder')}
          value={row.name}
          disabled={disabled}
          error={errorAt('name')}
          onChange={(event) => change({ ...row, name: event.currentTarget.value })}
        />
        <TextInput
          ref={input}
          aria-label={`${say('link')} ${of}`}
          placeholder="https://chat.example.com/?key={key}&url={address}/v1"
          classNames={{ input: styles.code ?? '' }}
          inputMode="url"
          spellCheck={false}
          value={row.link}
          disabled={disabled}
          error={errorAt('link')}
          onChange={(event) => change({ ...row, link: event.currentTarget.value })}
        />
        <Tooltip label={say('moveUp')}>
          <ActionIcon aria-label={`${say('moveUp')} ${of}`} disabled={!moveUp || disabled} onClick={moveUp}>
            <IconArrowUp size={16} />
          </ActionIcon>
        </Tooltip>
      </div>
      <div className={styles.below}>
        {!disabled &&
          chatPlaces.map((place) => (
            <Button
              key={place}
              size="compact-xs"
              variant="default"
              classNames={{ label: styles.code ?? '' }}
              aria-label={`${say('insert', { place })} ${of}`}
              onClick={() => insert(place)}
            >
              {place}
            </Button>
          ))}
        {row.link !== '' && !faults.link && <Opens link={row.link} />}
      </div>
    </div>
  )
}

/** The link with a sample key and the address of this server in place of the placeholders. */
function Opens({ link }: { link: string }) {
  const say = useText(texts)
  const sample: Record<ChatPlace, string> = { '{key}': 'sk-…', '{address}': useServerAddress() }
  const parts = link.split(/(\{key\}|\{address\})/)
  return (
    <>
      <span className={styles.opens}>
        {say('opens')}{' '}
        <code className={styles.code}>
          {parts.map((part, at) =>
            // Every second part is a place.
            // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text
            at % 2 === 1 ? <mark key={at}>{sample[part as ChatPlace]}</mark> : part,
          )}
        </code>
      </span>
      {!link.includes('{key}') && <span className={styles.opens}>{say('without', { key: '{key}' })}</span>}
    </>
  )
}

function KnownPages({ value, onChange, disabled }: Pick<ChatListProps, 'value' | 'onChange' | 'disabled'>) {
  const say = useText(texts)
  const rows = readChats(value)
  const missing = missingChats(rows ?? [])
  if (!rows || disabled || missing.length === 0) return null
  return (
    <div className={styles.known}>
      <span>{say('known')}</span>
      {missing.map((row) => (
        <Button
          key={row.name}
          size="compact-xs"
          variant="default"
          leftSection={<IconPlus size={12} />}
          aria-label={say('addKnown', { name: row.name })}
          onClick={() => onChange(writeChats([...rows, row]))}
        >
          {row.name}
        </Button>
      ))}
    </div>
  )
}
