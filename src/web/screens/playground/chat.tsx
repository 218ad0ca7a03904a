import { type DragEvent, useSyncExternalStore } from 'react'
import { textOf } from '../../lib/i18n.ts'
import { showDialog } from '../../ui/dialog/dialogs.tsx'
import { texts as uiTexts } from '../../ui/texts.ts'
import { Composer } from './composer.tsx'
import type { Conversation } from './conversation.ts'
import styles from './playground.module.css'
import type { Settings } from './settings.ts'
import { useStickToBottom } from './stick-to-bottom.ts'
import { texts } from './texts.ts'
import { TurnList } from './turn-list.tsx'
import { type Answer, type Question, requestOf, type Turn } from './turns.ts'
import { useDraft } from './use-draft.ts'

interface ChatProps {
  readonly conversation: Conversation
  readonly settings: Settings
  /** Whether a message can be sent; shows which settings are missing otherwise. */
  readonly isReady: () => boolean
  readonly onNew: () => void
  /** The question that the conversation begins with. */
  readonly draft?: Question | undefined
}

/** The conversation and its input. */
export function Chat({ conversation, settings, isReady, onNew, draft: first }: ChatProps) {
  const turns = useSyncExternalStore(conversation.subscribe, conversation.read)
  const stick = useStickToBottom()
  const { draft, replaces, setText, addPictures, removePicture, edit, clear } = useDraft(first)
  // An answer written by another tab is shown, and can be stopped there.
  const isOwn = ({ id }: Answer) => conversation.writing().includes(id)
  const running = turns.some(({ answers }) => answers.some(isOwn))
  const question = { text: draft.text.trim(), pictures: draft.pictures }
  const isEmpty = question.text === '' && question.pictures.length === 0

  function send(): void {
    if (isEmpty || running || !isReady()) return
    if (replaces === '') conversation.ask(question, settings)
    else conversation.rewrite(replaces, question, settings)
    clear()
    stick.toBottom()
  }

  function startEdit(turn: Turn): void {
    edit(turn)
    document.getElementById('playground-input')?.focus()
  }

  async function showCode(): Promise<void> {
    const next: Turn = { id: '', question: question.text, pictures: question.pictures, answers: [] }
    const asked = isEmpty ? turns : [...turns, next]
    const requests = settings.models.map((model, lane) => requestOf(settings, { lane, model }, asked))
    const { RequestCode } = await import('./request-code-view.tsx')
    await showDialog({
      title: textOf(texts, 'codeTitle'),
      body: <RequestCode requests={requests} />,
      cancelLabel: textOf(uiTexts, 'close'),
      wide: true,
    })
  }

  function drop(event: DragEvent): void {
    const files = [...event.dataTransfer.files]
    if (files.length === 0) return
    event.preventDefault()
    void addPictures(files)
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a place to drop pictures, which the button takes too
    <div
      className={styles.chat}
      onDragOver={(event) => event.dataTransfer.types.includes('Files') && event.preventDefault()}
      onDrop={drop}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return
        if (running) conversation.stop()
        else if (replaces !== '') clear()
      }}
    >
      <TurnList
        turns={turns}
        stick={stick}
        onRetry={(answer) => isReady() && conversation.retry(answer, settings)}
        onEdit={startEdit}
        onRemove={({ id }) => conversation.removeTurn(id)}
        onRemoveAnswer={({ id }) => conversation.removeAnswer(id)}
        onStop={({ id }) => conversation.stop(id)}
        isOwn={isOwn}
      />
      <Composer
        draft={draft}
        onText={setText}
        onPictures={(files) => void addPictures(files)}
        onRemovePicture={removePicture}
        running={running}
        editing={replaces !== ''}
        canClear={turns.length > 0}
        onSend={send}
        onStop={() => conversation.stop()}
        onCancelEdit={clear}
        onEditLast={() => {
          const last = turns.at(-1)
          if (last) startEdit(last)
        }}
        onClear={onNew}
        onCode={() => void showCode()}
      />
    </div>
  )
}
