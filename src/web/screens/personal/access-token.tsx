import { Button, Group, Stack, TextInput } from '@mantine/core'
import { IconKey } from '@tabler/icons-react'
import { useState } from 'react'
import { useText } from '../../lib/i18n.ts'
import { useWrite } from '../../lib/query.ts'
import { confirm } from '../../ui/dialog/confirm.tsx'
import { Panel } from '../../ui/page/panel.tsx'
import { CopyButton, copyText } from '../../ui/view/copy-text.tsx'
import { texts } from './texts.ts'

/** The token for scripts. It is shown once; the server keeps only its hash. */
export function AccessToken() {
  const say = useText(texts)
  const [token, setToken] = useState('')
  const make = useWrite('POST /api/user/token', {
    onSuccess: (fresh) => {
      setToken(fresh)
      void copyText(fresh, say('accessTokenCopied'))
    },
  })

  const drop = useWrite('DELETE /api/user/token', { success: say('accessTokenDropped'), onSuccess: () => setToken('') })

  async function askDrop(): Promise<void> {
    const title = say('accessTokenDropConfirm')
    if (await confirm({ title, body: say('accessTokenDropBody'), confirmLabel: say('accessTokenDrop'), danger: true }))
      drop.mutate({})
  }

  async function ask(): Promise<void> {
    const sure = await confirm({
      title: say('accessTokenConfirm'),
      body: say('accessTokenConfirmBody'),
      confirmLabel: say('accessTokenMake'),
    })
    if (sure) make.mutate({})
  }

  return (
    <Panel title={say('accessToken')} description={say('accessTokenHint')}>
      <Stack gap="sm" align="flex-start">
        {token && (
          <TextInput
            w="100%"
            readOnly
            label={say('accessToken')}
            description={say('accessTokenShown')}
            value={token}
            onFocus={(event) => event.currentTarget.select()}
            rightSection={<CopyButton text={token} label={say('accessToken')} />}
          />
        )}
        <Group gap="xs">
          <Button variant="default" leftSection={<IconKey size={16} />} loading={make.isPending} onClick={() => void ask()}>
            {say('accessTokenMake')}
          </Button>
          <Button variant="subtle" color="gray" loading={drop.isPending} onClick={() => void askDrop()}>
            {say('accessTokenDrop')}
          </Button>
        </Group>
      </Stack>
    </Panel>
  )
}
