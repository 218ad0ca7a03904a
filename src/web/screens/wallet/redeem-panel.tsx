import { Button, TextInput } from '@mantine/core'
import { IconExternalLink } from '@tabler/icons-react'
import { type FormEvent, useState } from 'react'
import { useQuotaFormat } from '../../lib/format.ts'
import { useText } from '../../lib/i18n.ts'
import { useWrite } from '../../lib/query.ts'
import { useStatus } from '../../lib/status.ts'
import { toast } from '../../lib/toast.ts'
import { showDialog } from '../../ui/dialog/dialogs.tsx'
import { Panel } from '../../ui/page/panel.tsx'
import { texts } from './texts.ts'
import styles from './wallet.module.css'

export function RedeemPanel() {
  const say = useText(texts)
  const format = useQuotaFormat()
  const { top_up_link: link } = useStatus()
  const [key, setKey] = useState('')
  const redeem = useWrite('POST /api/user/topup', {
    invalidates: ['GET /api/user/self', 'GET /api/organisation/:id', 'GET /api/user/self/ledger'],
    onSuccess: (units) => {
      setKey('')
      void showDialog({
        title: say('redeemedTitle'),
        body: say('redeemed', { amount: format(units) }),
        cancelLabel: say('ok'),
      })
    },
  })

  function submit(event: FormEvent): void {
    event.preventDefault()
    if (key.trim() === '') toast.warn(say('codeRequired'))
    else redeem.mutate({ body: { key: key.trim() } })
  }
  const getCode = {
    variant: 'subtle',
    size: 'compact-sm',
    rightSection: <IconExternalLink size={14} />,
    children: say('getCode'),
  } as const

  return (
    <Panel
      title={say('redeem')}
      description={say('redeemHint')}
      aside={
        link === '' ? (
          <Button {...getCode} onClick={() => toast.error(say('noLink'))} />
        ) : (
          <Button {...getCode} component="a" href={link} target="_blank" rel="noopener noreferrer" />
        )
      }
    >
      <form className={styles.line} onSubmit={submit} noValidate>
        <TextInput
          aria-label={say('code')}
          placeholder={say('code')}
          autoComplete="off"
          spellCheck={false}
          value={key}
          onChange={(event) => setKey(event.currentTarget.value)}
        />
        <Button type="submit" loading={redeem.isPending}>
          {say('redeemSubmit')}
        </Button>
      </form>
    </Panel>
  )
}
