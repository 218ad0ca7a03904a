import type { LedgerRow } from '../../../contract/entities/ledger-row.ts'
import { type Say, useText } from '../../lib/i18n.ts'
import shared from '../../ui/shared.module.css'
import { CopyText } from '../../ui/view/copy-text.tsx'
import { texts } from './texts.ts'
import styles from './wallet.module.css'

type Words = Say<keyof typeof texts>

/** Why a balance changed, in a sentence; with the reference number of the cause. */
export function Explanation({ row }: { row: LedgerRow }) {
  const say = useText(texts)
  const cause = row.reference.slice(row.reference.indexOf(':') + 1)
  return (
    <div className={styles.explanation}>
      <span>{explain(say, row, cause)}</span>
      {row.kind === 'charge' && (
        <CopyText text={cause}>
          <code className={`${shared.reference} ${shared.quiet}`}>{cause}</code>
        </CopyText>
      )}
    </div>
  )
}

function explain(say: Words, row: LedgerRow, cause: string): string {
  const { kind, detail } = row
  const because = (what: string) => (detail === '' ? what : say('withReason', { what, reason: detail }))
  switch (kind) {
    case 'charge':
      return chargeOf(say, row)
    case 'grant':
      return say('grant')
    case 'top_up':
      return detail === '' ? say('topUp', { number: cause }) : say('topUpPaid', { number: cause, money: detail })
    case 'redeem':
      return say('redeemRow', { number: cause })
    case 'reward':
      return say('reward')
    case 'transfer':
      return say('transferRow')
    case 'refund':
      return because(row.reference.startsWith('top_up_withdraw:') ? say('refundTopUp', { number: cause }) : say('refund'))
    case 'adjust':
      return because(say('adjust'))
    default:
      return because(row.reference)
  }
}

function chargeOf(say: Words, { model_name: model, token_name: token, token_id }: LedgerRow): string {
  if (model === '') return say('chargeUnknown')
  const by = token_id === 0 ? say('chargePlayground') : say('chargeToken', { token: token || `#${token_id}` })
  return `${say('charge', { model })} · ${by}`
}
