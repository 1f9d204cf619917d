#include "background.h"

#include <ATen/ThreadLocalState.h>
#include <c10/util/Exception.h>

struct Job {
  std::function<void()> work;
  std::function<napi_value(napi_env)> done;
  at::ThreadLocalState modes;
  napi_deferred deferred = nullptr;
  napi_async_work handle = nullptr;
  std::string error;
};

static void execute(napi_env, void* data) {
  auto* job = static_cast<Job*>(data);
  try {
    at::ThreadLocalStateGuard guard(job->modes);
    job->work();
  } catch (const c10::Error& e) {
    job->error = e.what_without_backtrace();
  } catch (const std::exception& e) {
    job->error = e.what();
  } catch (...) {
    job->error = "unknown C++ exception";
  }
}

static void complete(napi_env env, napi_status status, void* data) {
  std::unique_ptr<Job> job(static_cast<Job*>(data));
  if (status == napi_cancelled && job->error.empty()) job->error = "cancelled: the thread is ending";
  if (job->error.empty()) {
    napi_resolve_deferred(env, job->deferred, job->done(env));
  } else {
    napi_value error;
    napi_create_error(env, nullptr, bridge::text(env, job->error), &error);
    napi_reject_deferred(env, job->deferred, error);
  }
  napi_delete_async_work(env, job->handle);
}

napi_value inBackground(napi_env env, std::function<void()> work, std::function<napi_value(napi_env)> done) {
  auto* job = new Job{std::move(work), std::move(done), at::ThreadLocalState(), nullptr, nullptr, ""};
  napi_value promise;
  napi_create_promise(env, &job->deferred, &promise);
  napi_create_async_work(env, nullptr, bridge::text(env, "reverie:torch"), execute, complete, job, &job->handle);
  napi_queue_async_work(env, job->handle);
  return promise;
}
