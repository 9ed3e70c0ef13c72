// A linked list in managed memory: pointers in structures are good on both sides.
#include <cstdio>
#include <new>

struct Node {
  int value;
  Node *next;
};
struct List {
  Node *head;
  int length;
};

__global__ void scale(List *list, int factor) {
  for (Node *n = list->head; n; n = n->next) n->value *= factor;
}
__global__ void reverse(List *list) {
  Node *done = nullptr;
  for (Node *n = list->head; n;) {
    Node *next = n->next;
    n->next = done;
    done = n;
    n = next;
  }
  list->head = done;
}

int main() {
  List *list;
  cudaMallocManaged(&list, sizeof(List));
  list->head = nullptr, list->length = 0;
  for (int i = 1; i <= 5; i++) {
    Node *n;
    cudaMallocManaged(&n, sizeof(Node));
    n->value = i, n->next = list->head;
    list->head = n, list->length++;
  }
  scale<<<1, 1>>>(list, 10);
  reverse<<<1, 1>>>(list);
  cudaDeviceSynchronize();
  printf("%d nodes:", list->length);
  for (Node *n = list->head; n;) {
    Node *next = n->next;
    printf(" %d", n->value);
    cudaFree(n);
    n = next;
  }
  printf("\n");
  cudaFree(list);
}

// status 0
// out: 5 nodes: 10 20 30 40 50
