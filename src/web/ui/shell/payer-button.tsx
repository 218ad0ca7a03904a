import { UnstyledButton } from '@mantine/core'
import { IconBuilding, IconChevronDown, IconUser } from '@tabler/icons-react'
import type { ComponentProps } from 'react'
import { defineTexts, useText } from '../../lib/i18n.ts'
import { usePayer } from '../../lib/payer.ts'
import styles from './payer.module.css'

const texts = defineTexts({
  personal: ['个人账户', 'Personal'],
  paysNow: ['付款账户：{name}', 'Paying account: {name}'],
})

/** Names the account that pays. */
export function PayerButton(props: ComponentProps<'button'>) {
  const say = useText(texts)
  const payer = usePayer()
  const name = payer?.name ?? say('personal')
  const Icon = payer ? IconBuilding : IconUser
  const label = say('paysNow', { name })
  return (
    <UnstyledButton aria-label={label} title={label} {...props} className={styles.payer} data-organisation={payer !== null}>
      <Icon size={16} stroke={1.7} aria-hidden="true" />
      <span className={styles.name}>{name}</span>
      <IconChevronDown size={14} stroke={1.7} aria-hidden="true" />
    </UnstyledButton>
  )
}
