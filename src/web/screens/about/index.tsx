import { Skeleton, Stack } from '@mantine/core'
import { IconInfoCircle } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { defineTexts, useText } from '../../lib/i18n.ts'
import { read } from '../../lib/query.ts'
import { useStatus } from '../../lib/status.ts'
import { Empty } from '../../ui/page/empty.tsx'
import { ErrorView } from '../../ui/page/error-view.tsx'
import { PageHeader } from '../../ui/page/page-header.tsx'
import { Panel } from '../../ui/page/panel.tsx'
import { ReadingPage } from '../../ui/page/reading-page.tsx'
import { SiteContent } from '../../ui/text/site-content.tsx'

const texts = defineTexts({
  title: ['关于', 'About'],
  empty: ['管理员尚未填写关于页面', 'The admin has not written this page yet'],
  hint: [
    '管理员可在“设置 › 其他设置”中填写，支持 Markdown 和 HTML。',
    'Admins can edit it under Settings › Other, in Markdown or HTML.',
  ],
})

export function Screen() {
  const say = useText(texts)
  const { system_name: name, sluice_version: version } = useStatus()
  const about = useQuery(read('GET /api/about'))

  return (
    <ReadingPage>
      <PageHeader title={say('title')} description={`${name} ${version}`} />
      <Panel>
        {about.isPending ? (
          <Stack gap="sm">
            <Skeleton height={14} width="70%" />
            <Skeleton height={14} width="50%" />
          </Stack>
        ) : about.error ? (
          <ErrorView error={about.error} onRetry={() => void about.refetch()} />
        ) : about.data.trim() === '' ? (
          <Empty icon={<IconInfoCircle />} title={say('empty')} hint={say('hint')} />
        ) : (
          <SiteContent text={about.data} title={say('title')} />
        )}
      </Panel>
    </ReadingPage>
  )
}
