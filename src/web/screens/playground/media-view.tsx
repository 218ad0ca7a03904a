import { Progress } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { taskStatusLabels, type Video } from '../../../contract/entities/task.ts'
import { useQuotaFormat } from '../../lib/format.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { read } from '../../lib/query.ts'
import { ClipPlayers } from '../../ui/page/clip-player.tsx'
import { Notice } from '../../ui/page/notice.tsx'
import { MarkdownImage } from '../../ui/text/markdown-image.tsx'
import { useClipWords } from '../../ui/view/clip-words.ts'
import { Initial } from '../../ui/view/initial.tsx'
import type { Media } from './media.ts'
import styles from './playground.module.css'
import { Price } from './price.tsx'
import { texts } from './texts.ts'

interface MediaViewProps {
  readonly model: string
  readonly prompt: string
  /** Undefined while the order is on its way. */
  readonly media: Media | undefined
}

/** What one order has brought so far. */
export function MediaView({ model, prompt, media }: MediaViewProps) {
  const say = useText(texts)
  return (
    <article className={styles.decision} aria-label={`${model}: ${prompt}`} aria-busy={!media}>
      <header className={styles.author}>
        <Initial name={model || '?'} size={24} />
        <span className={styles.authorName}>{model}</span>
      </header>
      <p className={styles.facts} lang="">
        {prompt}
      </p>
      {!media && (
        <p className={styles.waiting} role="status">
          {say('waiting')}
        </p>
      )}
      {media?.state === 'error' && (
        <Notice kind="danger" title={say('failed')}>
          <span lang="">{media.message}</span>
        </Notice>
      )}
      {media?.state === 'pictures' && (
        <>
          {media.sources.length === 0 && <p className={styles.facts}>{say('emptyAnswer')}</p>}
          <div className={styles.pictures}>
            {media.sources.map((source, place) => (
              <MarkdownImage key={source} address={source} alt={say('pictureNumber', { number: place + 1 })} />
            ))}
          </div>
          <Price requestId={media.requestId} />
        </>
      )}
      {media?.state === 'ordered' && <OrderedClips id={media.videoId} />}
    </article>
  )
}

const everyMs = 4000
const anyTime = { p: 0, page_size: 1, start_timestamp: 0, end_timestamp: 0 }

/** The progress of an order of clips, then the clips themselves. */
function OrderedClips({ id }: { id: string }) {
  const say = useText(texts)
  const { data } = useQuery({
    ...read('GET /api/video/self', { query: { ...anyTime, video_id: id } }),
    refetchInterval: ({ state }) => (isOver(rowOf(state.data)) ? false : everyMs),
  })
  const row = rowOf(data)
  if (!row)
    return (
      <p className={styles.waiting} role="status">
        {say('waiting')}
      </p>
    )
  return <Clips row={row} />
}

function Clips({ row }: { row: Video }) {
  const say = useText(texts)
  const local = useLocal()
  const formatQuota = useQuotaFormat()
  const words = useClipWords()
  const label = taskStatusLabels[row.status] ?? taskStatusLabels.UNKNOWN
  return (
    <>
      {row.status === 'FAILURE' && (
        <Notice kind="danger" title={say('failed')}>
          <span lang="">{row.fail_reason}</span>
        </Notice>
      )}
      {!isOver(row) && (
        <div role="status">
          <p className={styles.facts}>
            {say('clipProgress', { state: label ? local(label.label) : row.status, progress: row.progress })}
          </p>
          <Progress value={Number.parseInt(row.progress, 10) || 0} animated aria-label={say('progress')} />
        </div>
      )}
      {row.clips.length > 0 && <ClipPlayers id={row.video_id} paths={row.clips} />}
      <p className={styles.figures}>
        <span>{words(row)}</span>
        <span>{say('cost', { amount: formatQuota(row.quota) })}</span>
        {row.refund > 0 && <span>{say('refunded', { amount: formatQuota(row.refund) })}</span>}
        <Link to="/video" search={{ id: row.video_id }} className={styles.link}>
          {say('inVideos')}
        </Link>
      </p>
    </>
  )
}

function isOver(row: Video | undefined): boolean {
  return row?.status === 'SUCCESS' || row?.status === 'FAILURE'
}

/** The line answers a list, or a page of one. */
function rowOf(answer: readonly Video[] | { readonly items: readonly Video[] } | undefined): Video | undefined {
  return answer === undefined ? undefined : 'items' in answer ? answer.items[0] : answer[0]
}
