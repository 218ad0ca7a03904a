import { ActionIcon, Group, NativeSelect, Pagination } from '@mantine/core'
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react'
import { pageSizes } from '../../../contract/envelope.ts'
import { formatCount } from '../../lib/format.ts'
import { useText } from '../../lib/i18n.ts'
import { useNarrow } from '../../lib/narrow.ts'
import { type PageSize, pageSize, usePageSize } from '../../lib/page-size.ts'
import { texts } from '../texts.ts'
import styles from './pager.module.css'

interface PagerProps {
  /** Counted from 1. */
  readonly page: number
  readonly onPage: (page: number) => void
  /** Rows on this page. */
  readonly shown: number
  /** Unknown for lists that do not count; then a full page means that there may be another. */
  readonly total?: number
  /** There may be more than `total`: the server stopped counting there. */
  readonly atLeast?: boolean
}

export function Pager({ page, onPage, shown, total, atLeast = false }: PagerProps) {
  const say = useText(texts)
  const size = usePageSize()
  const narrow = useNarrow()
  const from = shown === 0 ? 0 : (page - 1) * size + 1
  const to = shown === 0 ? 0 : from + shown - 1

  function resize(text: string): void {
    // The select offers only these sizes.
    pageSize.write(Number(text) as PageSize)
    onPage(1)
  }

  return (
    <nav className={styles.pager} aria-label={say('pager')}>
      <span className={styles.range}>
        {total === undefined
          ? say('rangeOpen', { from, to })
          : say('range', { from, to, total: `${formatCount(total)}${atLeast ? '+' : ''}` })}
      </span>
      <NativeSelect
        size="xs"
        aria-label={say('pageSize')}
        value={size}
        data={pageSizes.map((value) => ({ value: String(value), label: say('perPage', { size: value }) }))}
        onChange={(event) => resize(event.currentTarget.value)}
      />
      {total === undefined ? (
        <Steps page={page} onPage={onPage} last={shown < size} />
      ) : (
        <Pagination
          size="sm"
          total={Math.max(1, Math.ceil(total / size))}
          value={page}
          onChange={onPage}
          siblings={narrow ? 0 : 1}
          getItemProps={(number) => ({ 'aria-label': say('page', { page: number }) })}
          getControlProps={(control) => ({ 'aria-label': say(control === 'previous' ? 'previousPage' : 'nextPage') })}
        />
      )}
    </nav>
  )
}

function Steps({ page, onPage, last }: { page: number; onPage: (page: number) => void; last: boolean }) {
  const say = useText(texts)
  return (
    <Group gap="xs" wrap="nowrap">
      <ActionIcon variant="default" disabled={page <= 1} aria-label={say('previousPage')} onClick={() => onPage(page - 1)}>
        <IconChevronLeft size={16} />
      </ActionIcon>
      <span aria-current="page">{say('page', { page })}</span>
      <ActionIcon variant="default" disabled={last} aria-label={say('nextPage')} onClick={() => onPage(page + 1)}>
        <IconChevronRight size={16} />
      </ActionIcon>
    </Group>
  )
}
