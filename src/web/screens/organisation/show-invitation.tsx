import type { CallReply } from '../../lib/call.ts'
import { textOf, useText } from '../../lib/i18n.ts'
import { useServerAddress } from '../../lib/server-address.ts'
import { showDialog } from '../../ui/dialog/dialogs.tsx'
import shared from '../../ui/shared.module.css'
import { CopyText } from '../../ui/view/copy-text.tsx'
import { texts } from './texts.ts'

type Sent = CallReply<'POST /api/organisation/:id/invitations'>

/** The link of an invitation, which is shown once. */
export function showInvitation(sent: Sent): void {
  void showDialog({ title: textOf(texts, 'linkTitle'), body: <Link sent={sent} />, cancelLabel: textOf(texts, 'done') })
}

function Link({ sent: { email, mailed, secret } }: { sent: Sent }) {
  const say = useText(texts)
  const link = `${useServerAddress()}/invitation?token=${secret}`
  return (
    <>
      <p>{mailed ? say('linkMailed', { email }) : say('linkOnce')}</p>
      <CopyText text={link}>
        <code className={shared.reference}>{link}</code>
      </CopyText>
    </>
  )
}
