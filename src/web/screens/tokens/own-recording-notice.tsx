import { Box } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useText } from '../../lib/i18n.ts'
import { read } from '../../lib/query.ts'
import { formatTime } from '../../lib/times.ts'
import { Notice } from '../../ui/page/notice.tsx'
import { texts } from '../../ui/recording/texts.ts'

/** Informs users that their calls are recorded, or may be. */
export function OwnRecordingNotice() {
  const say = useText(texts)
  const { data } = useQuery(read('GET /api/recording/self'))
  const { user_until: all = 0, some_until: some = 0 } = data ?? {}
  if (all === 0 && some === 0) return null
  const title = all > 0 ? say('noticeOwn', { time: formatTime(all) }) : say('noticeSome', { time: formatTime(some) })
  return (
    <Box mb="md">
      <Notice kind="warn" title={title}>
        {say('noticeHint')}
      </Notice>
    </Box>
  )
}
