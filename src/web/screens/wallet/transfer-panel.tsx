import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { CallReply } from '../../lib/call.ts'
import { formatCount, useQuotaFormat } from '../../lib/format.ts'
import { useText } from '../../lib/i18n.ts'
import { useStatus } from '../../lib/status.ts'
import { TransferForm } from '../../ui/form/transfer-form.tsx'
import { Facts } from '../../ui/page/facts.tsx'
import { Panel } from '../../ui/page/panel.tsx'
import shared from '../../ui/shared.module.css'
import { QuotaText } from '../../ui/view/quota-text.tsx'
import { texts } from './texts.ts'
import styles from './wallet.module.css'

/** Moves what invitations have earned to the balance. */
export function TransferPanel({ self }: { self: CallReply<'GET /api/user/self'> }) {
  const say = useText(texts)
  const format = useQuotaFormat()
  const { quota_per_unit: perUsd } = useStatus()
  const least = Math.ceil(perUsd)
  const { aff_quota: available } = self
  return (
    <Panel
      title={say('transfer')}
      description={say('transferHint')}
      aside={
        <Button component={Link} to="/setting" variant="subtle" size="compact-sm">
          {say('toInvite')}
        </Button>
      }
    >
      <div className={styles.stack}>
        <Facts
          facts={[
            { label: say('transferAvailable'), value: <QuotaText units={available} /> },
            { label: say('transferEarned'), value: <QuotaText units={self.aff_history_quota} /> },
            { label: say('transferInvited'), value: formatCount(self.aff_count) },
          ]}
        />
        {available >= least ? (
          <TransferForm key={available} available={available} />
        ) : (
          <p className={shared.hint}>
            {available > 0 ? say('transferTooLittle', { least: format(least) }) : say('transferNone')}
          </p>
        )}
      </div>
    </Panel>
  )
}
