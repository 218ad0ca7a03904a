import { Button, Radio, Skeleton } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconBrandAlipay, IconBrandWechat, IconCreditCard } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { paymentMethods, type TopUpOffer } from '../../../contract/entities/top-up.ts'
import { ApiError, callWhole } from '../../lib/call.ts'
import { formatCount, withCurrency } from '../../lib/format.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { read } from '../../lib/query.ts'
import { useStatus } from '../../lib/status.ts'
import { DollarInput, QuotaInput } from '../../ui/form/quota-input.tsx'
import { ErrorView } from '../../ui/page/error-view.tsx'
import { Notice } from '../../ui/page/notice.tsx'
import { Panel } from '../../ui/page/panel.tsx'
import { Tag } from '../../ui/view/tag.tsx'
import { texts } from './texts.ts'
import styles from './wallet.module.css'

const PayDialog = lazy(async () => ({ default: (await import('./pay-dialog.tsx')).PayDialog }))

type Method = TopUpOffer['methods'][number]

export function OnlinePanel() {
  const say = useText(texts)
  const offer = useQuery(read('GET /api/user/topup/info'))
  return (
    <Panel title={say('online')} description={say('onlineHint')}>
      {offer.error ? (
        <ErrorView error={offer.error} onRetry={() => void offer.refetch()} />
      ) : !offer.data ? (
        <Skeleton height={240} />
      ) : offer.data.methods.length === 0 ? (
        <Notice>{say('onlineOff')}</Notice>
      ) : (
        <Offer offer={offer.data} />
      )}
    </Panel>
  )
}

function Offer({ offer }: { offer: TopUpOffer }) {
  const say = useText(texts)
  const { display_in_currency: inCurrency } = useStatus()
  const [name, setName] = useState(offer.methods[0]?.name ?? '')
  const [typed, setTyped] = useState<number | string>(offer.presets[0]?.amount ?? offer.methods[0]?.least ?? 1)
  const [paying, setPaying] = useState(false)
  // An order is in whole dollars where the site shows them, and in units elsewhere.
  const Amount = inCurrency ? DollarInput : QuotaInput
  const method = offer.methods.find((each) => each.name === name)
  const least = method?.least ?? 1
  const amount = Number(typed)
  const isRight = Number.isInteger(amount) && amount >= least
  const price = usePrice({ amount, name, enabled: isRight })

  return (
    <div className={styles.offer}>
      <Presets offer={offer} amount={amount} onChoose={setTyped} />
      <Amount
        label={say('amount')}
        description={
          inCurrency ? say('amountUsd', { least: `$${formatCount(least)}` }) : say('amountUnits', { least: formatCount(least) })
        }
        value={typed}
        onChange={setTyped}
        error={!isRight && say('amountLeast', { least: formatCount(least) })}
      />
      <Methods methods={offer.methods} value={name} onChange={setName} />
      <div className={styles.pay}>
        <p aria-live="polite">
          {say('toPay')}
          <strong>{price.money ?? '—'}</strong>
          {price.refusal !== undefined && <span className={styles.refusal}>{price.refusal}</span>}
        </p>
        <Button size="md" disabled={price.money === undefined} onClick={() => setPaying(true)}>
          {say('pay')}
        </Button>
      </div>
      {paying && (
        <Suspense>
          <PayDialog amount={amount} method={name} money={price.money ?? ''} onClose={() => setPaying(false)} />
        </Suspense>
      )}
    </div>
  )
}

interface Price {
  /** The formatted price; undefined while it is loading, or if it was refused. */
  readonly money?: string
  /** Why there is no price. */
  readonly refusal?: string
}

/** The price of the amount, shortly after it was typed. */
function usePrice({ amount, name, enabled }: { amount: number; name: string; enabled: boolean }): Price {
  const [asked] = useDebouncedValue(amount, 300)
  const isNow = enabled && asked === amount
  const { data } = useQuery({
    queryKey: ['price of a top-up', asked, name],
    queryFn: () => askPrice(asked, name),
    enabled: isNow,
  })
  return (isNow && data) || {}
}

async function askPrice(amount: number, name: string): Promise<Price> {
  try {
    const body = { amount, top_up_code: '', payment_method: name }
    const { data, currency = '' } = await callWhole('POST /api/user/amount', { body })
    return { money: withCurrency(String(data), currency) }
  } catch (cause) {
    // A refusal is shown in place of the price.
    if (cause instanceof ApiError && cause.status === 200) return { refusal: cause.message }
    throw cause
  }
}

function Presets({ offer, amount, onChoose }: { offer: TopUpOffer; amount: number; onChoose: (amount: number) => void }) {
  const say = useText(texts)
  const { display_in_currency: inCurrency } = useStatus()
  if (offer.presets.length === 0) return null
  return (
    <fieldset className={styles.presets} aria-label={say('presets')}>
      {offer.presets.map((preset) => (
        <Button
          key={preset.amount}
          px="xs"
          variant="default"
          className={styles.preset}
          aria-pressed={preset.amount === amount}
          onClick={() => onChoose(preset.amount)}
          rightSection={
            preset.share < 1 ? (
              <Tag color="orange">{say('off', { percent: Math.round((1 - preset.share) * 100) })}</Tag>
            ) : undefined
          }
        >
          {inCurrency ? `$${formatCount(preset.amount)}` : formatCount(preset.amount)}
        </Button>
      ))}
    </fieldset>
  )
}

const icons = { zfb: IconBrandAlipay, wx: IconBrandWechat, stripe: IconCreditCard } as const

interface MethodsProps {
  readonly methods: readonly Method[]
  readonly value: string
  readonly onChange: (name: string) => void
}

function Methods({ methods, value, onChange }: MethodsProps) {
  const say = useText(texts)
  const local = useLocal()
  return (
    <Radio.Group label={say('method')} value={value} onChange={onChange}>
      <div className={styles.methods}>
        {Object.entries(paymentMethods).map(([name, { label }]) => {
          const method = methods.find((each) => each.name === name)
          const Icon = icons[name as keyof typeof icons]
          return (
            method && (
              <Radio.Card key={name} value={name} className={styles.method ?? ''} aria-label={local(label)}>
                <Icon size={20} stroke={1.6} aria-hidden="true" />
                <span>{local(label)}</span>
                <small>{method.currency}</small>
              </Radio.Card>
            )
          )
        })}
      </div>
    </Radio.Group>
  )
}
