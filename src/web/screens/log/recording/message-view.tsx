import { SegmentedControl } from '@mantine/core'
import { useState } from 'react'
import type { RecordedBody, RecordedReply, RecordedRequest } from '../../../../contract/entities/recording.ts'
import { formatCount } from '../../../lib/format.ts'
import { useText } from '../../../lib/i18n.ts'
import { parseJson } from '../../../lib/json.ts'
import { Disclosure } from '../../../ui/page/disclosure.tsx'
import { CodeBlock } from '../../../ui/text/code-block.tsx'
import { Tag } from '../../../ui/view/tag.tsx'
import styles from './recording.module.css'
import { texts } from './texts.ts'

export function RequestView({ request }: { request: RecordedRequest }) {
  const say = useText(texts)
  return (
    <section className={styles.message} aria-label={say('request')}>
      <h3 className={styles.heading}>{say('request')}</h3>
      <code className={styles.line}>
        {request.method} {request.url}
      </code>
      <Headers headers={request.headers} />
      <Body body={request.body} />
    </section>
  )
}

export function ReplyView({ reply }: { reply: RecordedReply | null }) {
  const say = useText(texts)
  return (
    <section className={styles.message} aria-label={say('reply')}>
      <h3 className={styles.heading}>
        {say('reply')} {reply && <Tag color={reply.status < 400 ? 'green' : 'red'}>{reply.status}</Tag>}
      </h3>
      {reply ? (
        <>
          <Headers headers={reply.headers} />
          <Body body={reply.body} />
        </>
      ) : (
        <p className={styles.quiet}>{say('noReply')}</p>
      )}
    </section>
  )
}

function Headers({ headers }: { headers: RecordedRequest['headers'] }) {
  const say = useText(texts)
  if (headers.length === 0) return null
  return (
    <Disclosure title={say('headers', { count: headers.length })}>
      <CodeBlock>{headers.map(([name, value]) => `${name}: ${value}`).join('\n')}</CodeBlock>
    </Disclosure>
  )
}

function Body({ body }: { body: RecordedBody }) {
  const say = useText(texts)
  const [isRaw, setRaw] = useState(false)
  const bytes = formatCount(body.bytes)
  if (body.bytes === 0) return <p className={styles.quiet}>{say('noBody')}</p>
  const pretty = body.encoding === 'text' ? prettyText(body.text) : undefined
  return (
    <>
      <div className={styles.bodyHead}>
        {pretty !== undefined && (
          <SegmentedControl
            size="xs"
            aria-label={say('body')}
            value={isRaw ? 'sent' : 'formatted'}
            onChange={(value) => setRaw(value === 'sent')}
            data={[
              { value: 'formatted', label: say('formatted') },
              { value: 'sent', label: say('sent') },
            ]}
          />
        )}
        {body.encoding === 'base64' && <span className={styles.quiet}>{say('binary', { bytes })}</span>}
        {body.is_cut && <span className={styles.quiet}>{say('cut', { bytes })}</span>}
      </div>
      <CodeBlock>{isRaw ? body.text : (pretty ?? body.text)}</CodeBlock>
    </>
  )
}

/** Indented JSON, or a stream with the JSON of each event indented; undefined for other texts. */
function prettyText(text: string): string | undefined {
  const json = parseJson(text)
  if (json !== undefined) return JSON.stringify(json, null, 2)
  if (!/^(?:event|data|id|retry|:)/.test(text)) return undefined
  return text
    .split('\n')
    .map((line) => {
      const data = line.startsWith('data:') ? parseJson(line.slice(5)) : undefined
      return data === undefined ? line : `data: ${JSON.stringify(data, null, 2)}`
    })
    .join('\n')
}
