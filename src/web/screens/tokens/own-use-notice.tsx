import { Box, CloseButton } from '@mantine/core'
import { useText } from '../../lib/i18n.ts'
import { storedFlag } from '../../lib/stored.ts'
import { Notice } from '../../ui/page/notice.tsx'
import { texts } from './texts.ts'

const closed = storedFlag('token-notice-closed', false)

export function OwnUseNotice() {
  const say = useText(texts)
  if (closed.use()) return null
  return (
    <Box mb="md">
      <Notice kind="warn" action={<CloseButton size="sm" aria-label={say('noticeClose')} onClick={() => closed.write(true)} />}>
        {say('notice')}
      </Notice>
    </Box>
  )
}
