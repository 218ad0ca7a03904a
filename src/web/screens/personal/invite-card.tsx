import { Button, Skeleton, Stack, TextInput } from '@mantine/core'
import { IconTransfer } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import type { CallReply } from '../../lib/call.ts'
import { formatCount } from '../../lib/format.ts'
import { useText } from '../../lib/i18n.ts'
import { read } from '../../lib/query.ts'
import { useServerAddress } from '../../lib/server-address.ts'
import { ErrorView } from '../../ui/page/error-view.tsx'
import { Facts } from '../../ui/page/facts.tsx'
import { Panel } from '../../ui/page/panel.tsx'
import { copyText } from '../../ui/view/copy-text.tsx'
import { QuotaText } from '../../ui/view/quota-text.tsx'
import { texts } from './texts.ts'

const TransferDialog = lazy(async () => ({ default: (await import('./transfer-dialog.tsx')).TransferDialog }))

/** The quota earned by invitations, and the invite link. */
export function InviteCard({ self }: { self: CallReply<'GET /api/user/self'> }) {
  const say = useText(texts)
  const [transferring, setTransferring] = useState(false)
  return (
    <Panel
      title={say('invite')}
      description={say('inviteHint')}
      aside={
        <Button
          variant="default"
          size="compact-md"
          leftSection={<IconTransfer size={16} />}
          disabled={self.aff_quota <= 0}
          onClick={() => setTransferring(true)}
        >
          {say('transfer')}
        </Button>
      }
    >
      <Stack gap="md">
        <Facts
          large
          facts={[
            { label: say('earnedLeft'), value: <QuotaText units={self.aff_quota} /> },
            { label: say('earnedAll'), value: <QuotaText units={self.aff_history_quota} /> },
            { label: say('invitedCount'), value: formatCount(self.aff_count) },
          ]}
        />
        <InviteLink />
      </Stack>
      {transferring && (
        <Suspense>
          <TransferDialog available={self.aff_quota} onClose={() => setTransferring(false)} />
        </Suspense>
      )}
    </Panel>
  )
}

function InviteLink() {
  const say = useText(texts)
  const address = useServerAddress()
  const code = useQuery(read('GET /api/user/aff'))
  if (code.error) return <ErrorView error={code.error} onRetry={() => void code.refetch()} />
  if (code.data === undefined) return <Skeleton height={58} />

  const link = `${address}/register?aff=${encodeURIComponent(code.data)}`
  const copy = () => void copyText(link, say('inviteCopied'))
  return (
    <TextInput
      label={say('inviteLink')}
      readOnly
      value={link}
      onFocus={(event) => event.currentTarget.select()}
      rightSectionWidth={72}
      rightSection={
        <Button size="compact-sm" variant="light" onClick={copy}>
          {say('copy')}
        </Button>
      }
    />
  )
}
