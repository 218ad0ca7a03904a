import { useEffect, useState } from 'react'
import type { RunningAnswer } from '../../../../contract/entities/running-answer.ts'
import { sitePath } from '../../../lib/base-path.ts'
import { callerHeaders } from '../../../lib/call.ts'
import { linesOf } from '../../../lib/chat-events.ts'
import { useText } from '../../../lib/i18n.ts'
import { parseJson } from '../../../lib/json.ts'
import { Dialog } from '../../../ui/dialog/dialog.tsx'
import shared from '../../../ui/shared.module.css'
import { texts } from '../texts.ts'
import styles from './running.module.css'

/** The text of an answer while it is being written, from its beginning. */
export function WatchDialog({ answer, onClose }: { answer: RunningAnswer; onClose: () => void }) {
  const say = useText(texts)
  const [text, setText] = useState('')
  const [isOver, setIsOver] = useState(false)

  // A stream of the server is outside of React.
  useEffect(() => {
    const leaving = new AbortController()
    const watch = async () => {
      const address = sitePath(`/pg/requests/${encodeURIComponent(answer.request_id)}/events`)
      const response = await fetch(address, { headers: callerHeaders(), signal: leaving.signal })
      if (!response.ok || !response.body) return
      for await (const line of linesOf(response.body)) {
        if (!line.startsWith('data:')) continue
        const more = textOfEvent(parseJson(line.slice('data:'.length)))
        if (more !== '') setText((before) => before + more)
      }
    }
    watch()
      .catch(() => {})
      .finally(() => !leaving.signal.aborted && setIsOver(true))
    return () => leaving.abort()
  }, [answer.request_id])

  return (
    <Dialog title={say('watchTitle', { model: answer.model })} size="lg" onClose={onClose}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <pre className={styles.watched} tabIndex={0} lang="" aria-live="off">
        {text || say('watchWaiting')}
      </pre>
      <p className={shared.note} aria-live="polite">
        {say(isOver ? 'watchOver' : 'watchGoesOn')}
      </p>
    </Dialog>
  )
}

/** The text that an event of a stream adds, in any of the four dialects; '' for an event without text. */
function textOfEvent(event: unknown): string {
  const found = [
    at(event, 'choices', 0, 'delta', 'content'),
    at(event, 'type') === 'response.output_text.delta' ? at(event, 'delta') : undefined,
    at(event, 'delta', 'text'),
    at(event, 'candidates', 0, 'content', 'parts', 0, 'text'),
  ]
  return found.find((text) => typeof text === 'string') ?? ''
}

function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (found, key) => (typeof found === 'object' && found !== null ? Reflect.get(found, key) : undefined),
    value,
  )
}
