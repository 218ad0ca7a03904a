import { Button, Group, SegmentedControl, Stack, Switch } from '@mantine/core'
import { useForm } from '@mantine/form'
import { ApiError, type CallReply } from '../../lib/call.ts'
import { useDollarsOf } from '../../lib/format.ts'
import { useText } from '../../lib/i18n.ts'
import { useWrite } from '../../lib/query.ts'
import { Choices } from '../../ui/form/choices.tsx'
import { QuotaInput } from '../../ui/form/quota-input.tsx'
import { Panel } from '../../ui/page/panel.tsx'
import { MailFields } from './mail-fields.tsx'
import { inputOf, type NoticeForm, type NoticeValues, readOwnSetting, thresholdPresets } from './own-setting.ts'
import { texts } from './texts.ts'
import { WebhookFields } from './webhook-fields.tsx'

/** The form field of each error code of the server. */
const fieldOfRefusal: Readonly<Record<string, string>> = {
  webhook_url_invalid: 'webhook_url',
  email_invalid: 'notification_email',
  email_domain_refused: 'notification_email',
  email_alias_refused: 'notification_email',
  email_required: 'notification_code',
  code_wrong: 'notification_code',
}

/** The user's low quota notification: method and threshold. */
export function NoticesCard({ self }: { self: CallReply<'GET /api/user/self'> }) {
  const say = useText(texts)
  const { hasSecret, ...saved } = readOwnSetting(self.setting)
  const form = useForm<NoticeValues>({
    initialValues: saved,
    validate: {
      quota_warning_threshold: (typed) =>
        (typed !== '' || saved.quota_warning_threshold !== '') &&
        !(Number.isSafeInteger(Number(typed)) && Number(typed) > 0) &&
        say('thresholdInvalid'),
      webhook_url: (url, { notify_type }) => notify_type === 'webhook' && !isHttps(url.trim()) && say('webhookHttps'),
    },
  })
  const save = useWrite('PUT /api/user/setting', {
    invalidates: ['GET /api/user/self'],
    success: say('noticesSaved'),
    failure: say('noticesFailed'),
    onSuccess: () => form.setValues({ webhook_secret: '', notification_code: '' }),
    onFailure: (cause) => {
      const field = cause instanceof ApiError ? fieldOfRefusal[cause.code] : undefined
      if (field === undefined || !(cause instanceof ApiError)) return false
      form.setFieldError(field, cause.message)
      return true
    },
  })
  const test = useWrite('POST /api/user/setting/test', { success: say('testSent') })

  return (
    <Panel title={say('notices')} description={say('noticesHint')}>
      <form onSubmit={form.onSubmit((values) => save.mutate({ body: inputOf(values) }))} noValidate>
        <Stack gap="md">
          <SegmentedControl
            aria-label={say('notifyType')}
            data={[
              { value: 'email', label: say('notifyMail') },
              { value: 'webhook', label: say('notifyWebhook') },
            ]}
            {...form.getInputProps('notify_type')}
          />
          {form.values.notify_type === 'webhook' ? (
            <WebhookFields form={form} hasSecret={hasSecret} />
          ) : (
            <MailFields form={form} ownEmail={self.email} provedEmail={saved.notification_email} />
          )}
          <Threshold form={form} />
          <Switch
            label={say('acceptUnpriced')}
            description={say('acceptUnpricedHint')}
            {...form.getInputProps('accept_unset_model_ratio_model', { type: 'checkbox' })}
          />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" loading={test.isPending} onClick={() => test.mutate({})}>
              {say('testSend')}
            </Button>
            <Button type="submit" loading={save.isPending}>
              {say('noticesSave')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Panel>
  )
}

function Threshold({ form }: { form: NoticeForm }) {
  const say = useText(texts)
  const dollarsOf = useDollarsOf()
  return (
    <div>
      <QuotaInput
        label={say('threshold')}
        description={say('thresholdHint')}
        {...form.getInputProps('quota_warning_threshold')}
        onChange={(quota) => form.setFieldValue('quota_warning_threshold', String(quota))}
      />
      <Choices
        offers={thresholdPresets.map((count) => ({
          label: dollarsOf(count),
          onClick: () => form.setFieldValue('quota_warning_threshold', String(count)),
        }))}
      />
    </div>
  )
}

function isHttps(url: string): boolean {
  return URL.canParse(url) && new URL(url).protocol === 'https:'
}
