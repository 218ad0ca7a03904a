import { Anchor, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useText } from '../../lib/i18n.ts'
import { read } from '../../lib/query.ts'
import { storedFlag } from '../../lib/stored.ts'
import { ErrorView } from '../../ui/page/error-view.tsx'
import { Panel } from '../../ui/page/panel.tsx'
import shared from '../../ui/shared.module.css'
import { CopyText } from '../../ui/view/copy-text.tsx'
import { Tag } from '../../ui/view/tag.tsx'
import styles from './personal.module.css'
import { texts } from './texts.ts'

const collapsedCount = 10
const expandedChoice = storedFlag('modelsExpanded', false)

export function ModelsCard() {
  const say = useText(texts)
  const models = useQuery(read('GET /api/user/models'))
  const expanded = expandedChoice.use()
  const names = models.data ?? []
  const hidden = names.length - collapsedCount

  return (
    <Panel title={say('models')} description={say('modelsHint')}>
      {models.isPending && <Skeleton height={22} width="60%" />}
      {models.error && <ErrorView error={models.error} onRetry={() => void models.refetch()} />}
      {models.data && names.length === 0 && <span className={shared.quiet}>{say('modelsNone')}</span>}
      <div className={styles.tags}>
        {(expanded ? names : names.slice(0, collapsedCount)).map((name) => (
          <CopyText key={name} text={name}>
            <Tag color="sluice">{name}</Tag>
          </CopyText>
        ))}
        {hidden > 0 && (
          <Anchor
            component="button"
            type="button"
            size="sm"
            aria-expanded={expanded}
            onClick={() => expandedChoice.write(!expanded)}
          >
            {expanded ? say('showFewer') : say('modelsMore', { count: hidden })}
          </Anchor>
        )}
      </div>
    </Panel>
  )
}
