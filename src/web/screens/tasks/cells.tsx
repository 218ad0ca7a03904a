import { Progress, UnstyledButton } from '@mantine/core'
import type { ReactNode } from 'react'
import { type Label, taskStatusLabels } from '../../../contract/entities/task.ts'
import { colorOf } from '../../lib/colors.ts'
import { formatCount } from '../../lib/format.ts'
import { textOf, useLocal, useText } from '../../lib/i18n.ts'
import { formatTime } from '../../lib/times.ts'
import { showDialog } from '../../ui/dialog/dialogs.tsx'
import shared from '../../ui/shared.module.css'
import { CodeBlock } from '../../ui/text/code-block.tsx'
import { CopyText } from '../../ui/view/copy-text.tsx'
import { QuotaText } from '../../ui/view/quota-text.tsx'
import { Tag } from '../../ui/view/tag.tsx'
import styles from './tasks.module.css'
import { texts } from './texts.ts'

/** Cells of both lists. */

export function LabelTag({ label, fallback }: { label: Label | undefined; fallback: string }) {
  const local = useLocal()
  const say = useText(texts)
  return <Tag color={label?.color ?? 'gray'}>{label ? local(label.label) : fallback || say('unknown')}</Tag>
}

export function StatusCell({ status }: { status: string }) {
  const local = useLocal()
  const label = taskStatusLabels[status] ?? taskStatusLabels.UNKNOWN
  return (
    <Tag dot color={label?.color ?? 'gray'}>
      {label ? local(label.label) : status}
    </Tag>
  )
}

export function ProgressCell({ progress, status }: { progress: string; status: string }) {
  const say = useText(texts)
  const percent = Number.parseInt(progress, 10)
  if (Number.isNaN(percent)) return <span className={shared.figure}>{progress}</span>
  const color = status === 'FAILURE' ? 'orange' : status === 'SUCCESS' ? 'green' : 'sluice'
  return (
    <span className={styles.progress}>
      <Progress value={percent} color={color} aria-label={say('progress')} className={styles.bar} />
      <span className={styles.percent}>{percent}%</span>
    </span>
  )
}

/** The year is left out for the current year. */
export function TimeCell({ seconds }: { seconds: number }) {
  const full = formatTime(seconds)
  const thisYear = full.startsWith(String(new Date().getFullYear()))
  return (
    <time className={shared.figure} dateTime={new Date(seconds * 1000).toISOString()} title={full}>
      {thisYear ? full.slice(5) : full}
    </time>
  )
}

/** The time from the order to the end, red above one minute. */
export function SpentCell({ seconds }: { seconds: number }) {
  const say = useText(texts)
  return <Tag color={seconds > 60 ? 'red' : 'green'}>{say('seconds', { count: formatCount(Math.round(seconds)) })}</Tag>
}

export function ChannelCell({ id }: { id: number }) {
  return (
    <CopyText text={String(id)}>
      <Tag color={colorOf(id)}>{id}</Tag>
    </CopyText>
  )
}

/** An id, shortened, which a click copies. */
export function IdCell({ text }: { text: string }) {
  return (
    <CopyText text={text}>
      <span className={styles.id}>{text}</span>
    </CopyText>
  )
}

export function CostCell({ units }: { units: number }) {
  return (
    <span className={shared.figure}>
      <QuotaText units={units} />
    </span>
  )
}

/** A text that is truncated in its cell; a click shows all of it, for reading and copying. */
export function LongText({ title, text }: { title: string; text: string }) {
  return (
    <UnstyledButton className={styles.long} title={text} onClick={() => showText(title, text)}>
      {text}
    </UnstyledButton>
  )
}

export function showText(title: string, body: ReactNode): void {
  void showDialog({
    title,
    wide: true,
    cancelLabel: textOf(texts, 'close'),
    body: <CodeBlock className={shared.asWritten}>{body}</CodeBlock>,
  })
}
