// Errors: the last one of the host, that of a fault, and their names and texts.
#include "internal.h"

static _Thread_local cudaError_t last;
static cudaError_t named; // whose name or text the program asked for last: it has seen the error
cudaError_t wb_sticky;

cudaError_t wb_result(cudaError_t error) {
  if (error != cudaSuccess && error != cudaErrorNotReady) last = error;
  return error;
}

// wb_fail notes an error of a call, and tells the device's side the fact, which shows it
// with the line of the call. "{}" in the text is the line of the place other.
cudaError_t wb_fail(cudaError_t error, uint64_t here, uint64_t other, const char *format, ...) {
  char text[512];
  va_list list;
  va_start(list, format);
  int n = vsnprintf(text, sizeof text, format, list);
  va_end(list);
  if (n > 0 && wb_ready() == cudaSuccess) {
    size_t bytes = strlen(text);
    wb_lock();
    uint64_t *m = wb_message(WB_OP_FAILED, here, 3, bytes);
    m[0] = error, m[1] = other, m[2] = bytes;
    memcpy(m + 3, text, bytes);
    wb_send();
    wb_unlock();
  }
  return wb_result(error);
}

API cudaError_t cudaGetLastError(void) {
  cudaError_t e = wb_sticky ? wb_sticky : last;
  last = cudaSuccess;
  return e;
}
API cudaError_t cudaPeekAtLastError(void) { return wb_sticky ? wb_sticky : last; }

// wb_unasked is an error that the program never asked for. A fault was reported.
cudaError_t wb_unasked(void) { return wb_sticky || last == named ? cudaSuccess : last; }

static const struct {
  cudaError_t error;
  const char *name, *text;
} texts[] = {
#define E(name, text) {name, #name, text}
    E(cudaSuccess, "no error"),
    E(cudaErrorInvalidValue, "invalid argument"),
    E(cudaErrorMemoryAllocation, "out of memory"),
    E(cudaErrorInitializationError, "initialization error"),
    E(cudaErrorCudartUnloading, "driver shutting down"),
    E(cudaErrorInvalidConfiguration, "invalid configuration argument"),
    E(cudaErrorInvalidPitchValue, "invalid pitch argument"),
    E(cudaErrorInvalidSymbol, "invalid device symbol"),
    E(cudaErrorInvalidHostPointer, "invalid host pointer"),
    E(cudaErrorInvalidDevicePointer, "invalid device pointer"),
    E(cudaErrorUnsupportedLimit, "limit is not supported on this architecture"),
    E(cudaErrorInvalidTexture, "invalid texture reference"),
    E(cudaErrorInvalidChannelDescriptor, "invalid channel descriptor"),
    E(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"),
    E(cudaErrorInsufficientDriver, "CUDA driver version is insufficient for CUDA runtime version"),
    E(cudaErrorMissingConfiguration, "__global__ function call is not configured"),
    E(cudaErrorInvalidDeviceFunction, "invalid device function"),
    E(cudaErrorNoDevice, "no CUDA-capable device is detected"),
    E(cudaErrorInvalidDevice, "invalid device ordinal"),
    E(cudaErrorInvalidKernelImage, "device kernel image is invalid"),
    E(cudaErrorDeviceUninitialized, "invalid device context"),
    E(cudaErrorInvalidPtx, "a PTX JIT compilation failed"),
    E(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    E(cudaErrorIllegalState, "the operation cannot be performed in the present state"),
    E(cudaErrorSymbolNotFound, "named symbol not found"),
    E(cudaErrorNotReady, "device not ready"),
    E(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
    E(cudaErrorLaunchOutOfResources, "too many resources requested for launch"),
    E(cudaErrorLaunchTimeout, "the launch timed out and was terminated"),
    E(cudaErrorPeerAccessAlreadyEnabled, "peer access is already enabled"),
    E(cudaErrorPeerAccessNotEnabled, "peer access has not been enabled"),
    E(cudaErrorAssert, "device-side assert triggered"),
    E(cudaErrorHostMemoryAlreadyRegistered, "part or all of the requested memory range is already mapped"),
    E(cudaErrorHostMemoryNotRegistered, "pointer does not correspond to a registered memory region"),
    E(cudaErrorHardwareStackError, "hardware stack error"),
    E(cudaErrorIllegalInstruction, "an illegal instruction was encountered"),
    E(cudaErrorMisalignedAddress, "misaligned address"),
    E(cudaErrorInvalidAddressSpace, "operation not supported on global/shared address space"),
    E(cudaErrorInvalidPc, "invalid program counter"),
    E(cudaErrorLaunchFailure, "unspecified launch failure"),
    E(cudaErrorCooperativeLaunchTooLarge, "too many blocks in cooperative launch"),
    E(cudaErrorNotPermitted, "operation not permitted"),
    E(cudaErrorNotSupported, "operation not supported"),
    E(cudaErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing"),
    E(cudaErrorInvalidClusterSize, "invalid cluster size"),
    E(cudaErrorGraphExecUpdateFailure, "the graph update was not performed because it included changes which violated constraints specific to instantiated graph update"),
    E(cudaErrorUnknown, "unknown error"),
#undef E
};

API const char *cudaGetErrorString(cudaError_t error) {
  named = error;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    if (texts[i].error == error) return texts[i].text;
  return "unrecognized error code";
}
API const char *cudaGetErrorName(cudaError_t error) {
  named = error;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    if (texts[i].error == error) return texts[i].name;
  return "unrecognized error code";
}
