import { Button } from '@mantine/core'
import { useText } from '../../lib/i18n.ts'
import { Dialog } from '../../ui/dialog/dialog.tsx'
import { SiteText } from '../../ui/text/site-content.tsx'
import { readNotice } from './read-notice.ts'
import { texts } from './texts.ts'

export function NoticeDialog({ notice }: { notice: string }) {
  const say = useText(texts)
  const close = () => readNotice.write(notice)
  return (
    <Dialog title={say('notice')} onClose={close} footer={<Button onClick={close}>{say('noticeRead')}</Button>}>
      <SiteText text={notice} />
    </Dialog>
  )
}
