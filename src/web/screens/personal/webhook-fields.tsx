import { Box, PasswordInput, TextInput } from '@mantine/core'
import { useText } from '../../lib/i18n.ts'
import { Disclosure } from '../../ui/page/disclosure.tsx'
import shared from '../../ui/shared.module.css'
import { CodeBlock } from '../../ui/text/code-block.tsx'
import type { NoticeForm } from './own-setting.ts'
import { texts } from './texts.ts'

const sample = JSON.stringify(
  { type: 'quota_exceed', title: '…', content: '…', values: [499_000, 500_000], timestamp: 1_760_000_000 },
  null,
  2,
)

/** The user's webhook, and the secret that authenticates its calls. */
export function WebhookFields({ form, hasSecret }: { form: NoticeForm; hasSecret: boolean }) {
  const say = useText(texts)
  return (
    <>
      <TextInput
        label={say('webhookUrl')}
        description={say('webhookUrlHint')}
        placeholder="https://example.com/webhook"
        type="url"
        autoComplete="off"
        spellCheck={false}
        {...form.getInputProps('webhook_url')}
      />
      <PasswordInput
        label={say('webhookSecret')}
        description={say(hasSecret ? 'webhookSecretSet' : 'webhookSecretHint')}
        autoComplete="new-password"
        visibilityToggleButtonProps={{ 'aria-label': say('showSecret'), tabIndex: 0 }}
        {...form.getInputProps('webhook_secret')}
      />
      <Disclosure title={say('webhookSample')}>
        <Box component="p" mb="xs" className={shared.hint}>
          {say('webhookSampleHint')}
        </Box>
        <CodeBlock>{sample}</CodeBlock>
      </Disclosure>
    </>
  )
}
