import { lazy, Suspense, useEffect, useState, useSyncExternalStore } from 'react'
import { textOf } from '../../lib/i18n.ts'
import { useSession } from '../../lib/session.ts'
import { confirm } from '../../ui/confirm.tsx'
import { showDialog } from '../../ui/dialogs.tsx'
import { texts as uiTexts } from '../../ui/texts.ts'
import { Composer } from './composer.tsx'
import { Conversation } from './conversation.ts'
import { MessageList } from './message-list.tsx'
import { isRunning, type Message, requestOf } from './messages.ts'
import styles from './playground.module.css'
import type { Settings } from './settings.ts'
import { useStickToBottom } from './stick-to-bottom.ts'
import { texts } from './texts.ts'

const RequestCode = lazy(async () => ({ default: (await import('./request-code-view.tsx')).RequestCode }))

export interface ChatProps {
  readonly settings: Settings
  /** Asks for what is missing before anything can be sent. */
  readonly isReady: () => boolean
}

/** The conversation and where it goes on. */
export function Chat({ settings, isReady }: ChatProps) {
  const [conversation, messages] = useConversation()
  const stick = useStickToBottom()
  const [draft, setDraft] = useState('')
  const [editing, setEditing] = useState(false)
  const last = messages.at(-1)
  const running = last !== undefined && isRunning(last)

  function write(text: string, replaces: boolean): void {
    setDraft(text)
    setEditing(replaces)
  }

  function send(): void {
    const question = draft.trim()
    if (question === '' || running || !isReady()) return
    if (editing) conversation.rewrite(question, settings)
    else conversation.ask(question, settings)
    write('', false)
    stick.toBottom()
  }

  function edit({ content }: Message): void {
    write(content, true)
    document.getElementById('playground-input')?.focus()
  }

  async function clear(): Promise<void> {
    const sure = await confirm({
      title: textOf(texts, 'clearTitle'),
      body: textOf(texts, 'clearBody', { count: messages.length }),
      confirmLabel: textOf(texts, 'clear'),
      danger: true,
    })
    if (!sure) return
    conversation.clear()
    setEditing(false)
  }

  function showCode(): void {
    const question = draft.trim()
    const next: Message = { id: '', role: 'user', content: question, state: 'complete' }
    void showDialog({
      title: textOf(texts, 'codeTitle'),
      body: (
        <Suspense>
          <RequestCode request={requestOf(settings, question === '' ? messages : [...messages, next])} />
        </Suspense>
      ),
      cancelLabel: textOf(uiTexts, 'close'),
      wide: true,
    })
  }

  return (
    <div className={styles.chat}>
      <MessageList
        messages={messages}
        stick={stick}
        onRetry={() => isReady() && conversation.retry(settings)}
        onEdit={edit}
        onRemove={({ id }) => conversation.remove(id)}
      />
      <Composer
        draft={draft}
        onDraft={setDraft}
        running={running}
        editing={editing}
        canClear={messages.length > 0}
        onSend={send}
        onStop={() => conversation.stop()}
        onCancelEdit={() => write('', false)}
        onClear={() => void clear()}
        onCode={showCode}
      />
    </div>
  )
}

function useConversation(): [Conversation, readonly Message[]] {
  const userId = useSession()?.id ?? 0
  const [conversation] = useState(() => new Conversation(userId))
  const messages = useSyncExternalStore(conversation.subscribe, conversation.read)
  // Outside of React: an answer that nobody reads any more is not paid for.
  useEffect(() => () => conversation.stop(), [conversation])
  return [conversation, messages]
}
